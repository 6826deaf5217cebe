// Flamenco job type: the flesh of a shot, simulated in parts by many workers and baked by one.
//
// Copy it to the folder `scripts` beside flamenco-manager. Every worker's Blender has Jounce, and all see the same files.

const JOB_TYPE = {
    label: "Jounce Bake",
    description: "Simulate the flesh of all characters in parts, and bake it to a copy of the file",
    settings: [
        {
            key: "frames", type: "string", required: true,
            eval: "f'{C.scene.frame_start}-{C.scene.frame_end}'",
            evalInfo: { showLinkButton: true, description: "Frames of the scene" },
            description: "Frames to bake, such as 1-250",
        },
        {
            key: "chunk_size", type: "int32", default: 0, visible: "submission",
            description: "Frames that one worker simulates, beside those of the lead; 0 for all of them",
        },
        {
            key: "lead", type: "int32", default: 96, visible: "submission",
            description: "Frames simulated before those of a worker, so that they agree with the whole motion",
        },
        {
            key: "shards", type: "string", subtype: "dir_path", required: true, visible: "submission",
            eval: "bpy.path.abspath('//shards')",
            description: "Folder for what workers have simulated",
        },
        {
            key: "output", type: "string", subtype: "file_path", required: true, visible: "submission",
            eval: "bpy.data.filepath.replace('.blend', '.baked.blend')",
            description: "The baked file",
        },
        // Set by the submission; not shown.
        { key: "blendfile", type: "string", required: true, visible: "web", description: "The file to bake" },
    ],
};

function compileJob(job) {
    const settings = job.settings;
    const range = frameRange(settings.frames);
    if (settings.chunk_size < 0 || settings.lead < 0) {
        throw "The frames of a worker and of a lead are none at least.";
    }
    const count = settings.chunk_size || range.end - range.start + 1;
    const bake = blenderTask("bake", settings, ["bake", "--output", settings.output].concat(frames(range)));
    for (let start = range.start; start <= range.end; start += count) {
        const part = { start: start, end: Math.min(start + count - 1, range.end) };
        const name = `simulate-${part.start}-${part.end}`;
        const words = ["simulate", "--lead", `${settings.lead}`].concat(frames(part));
        const task = blenderTask(name, settings, words);
        job.addTask(task);
        bake.addDependency(task);
    }
    job.addTask(bake);
}

// First and last of "1-250" or "7".
function frameRange(text) {
    const found = /^\s*(-?\d+)(?:\s*-\s*(-?\d+))?\s*$/.exec(text);
    if (!found) {
        throw `Frames ${text}: expected one range without gaps, such as 1-250.`;
    }
    const start = parseInt(found[1], 10);
    const end = found[2] === undefined ? start : parseInt(found[2], 10);
    if (end < start) {
        throw `Frames ${text}: they end before they start.`;
    }
    return { start: start, end: end };
}

function frames(range) {
    return ["--start", `${range.start}`, "--end", `${range.end}`];
}

// What a worker runs: Blender with the file, and a command of Jounce, which is the last word for Blender.
function blenderTask(name, settings, words) {
    const task = author.Task(name, "blender");
    task.addCommand(author.Command("blender-render", {
        exe: "{blender}",
        exeArgs: "{blenderArgs}",
        argsBefore: [],
        blendfile: settings.blendfile,
        args: ["--command", "jounce"].concat(words, ["--shards", settings.shards, "--json"]),
    }));
    return task;
}
