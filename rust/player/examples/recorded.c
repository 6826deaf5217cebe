/* Plays a recorded character, writes its displacements, and prints the microseconds of a step and of them:
 *
 *     recorded FOLDER SECONDS_A_FRAME DISPLACEMENTS
 *
 * The folder has the files model, points, poses and settings of tests/blender/players.py. C11, for its clock.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "jounce_player.h"

static const uint32_t SETTINGS[] = {
    JOUNCE_AMOUNT, JOUNCE_STIFFNESS, JOUNCE_DAMPING, JOUNCE_STRETCH, JOUNCE_LIMIT, JOUNCE_GRAVITY_X,
    JOUNCE_GRAVITY_Y, JOUNCE_GRAVITY_Z, JOUNCE_POSE_REST, JOUNCE_SUBSTEP
};

static void *read_file(const char *folder, const char *name, size_t *length)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) {
        fprintf(stderr, "%s cannot be read\n", path);
        exit(1);
    }
    *length = (size_t)ftell(file);
    void *bytes = malloc(*length + 1);
    rewind(file);
    if (!bytes || fread(bytes, 1, *length, file) != *length) {
        fprintf(stderr, "%s cannot be read\n", path);
        exit(1);
    }
    fclose(file);
    return bytes;
}

static void check(int succeeded)
{
    if (!succeeded) {
        fprintf(stderr, "%s\n", jounce_error());
        exit(1);
    }
}

static double micros(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int count, char **arguments)
{
    if (count != 4) {
        fprintf(stderr, "usage: recorded FOLDER SECONDS_A_FRAME DISPLACEMENTS\n");
        return 2;
    }
    size_t length, size, numbers, settings;
    uint8_t *model = read_file(arguments[1], "model", &length);
    float *places = read_file(arguments[1], "points", &size);
    double *poses = read_file(arguments[1], "poses", &numbers);
    double *values = read_file(arguments[1], "settings", &settings);
    JouncePlayer *player = jounce_load(model, length);
    check(player != NULL);
    check(jounce_attach(player, places, size / (3 * sizeof *places)));
    for (size_t i = 0; i < settings / sizeof *values; i++) {
        check(jounce_set(player, SETTINGS[i], values[i]));
    }
    size_t bones = jounce_count(player, JOUNCE_COUNT_BONES);
    size_t points = jounce_count(player, JOUNCE_COUNT_POINTS);
    size_t frames = numbers / (12 * bones * sizeof *poses);
    float *out = malloc(3 * points * sizeof *out);
    double *steps = malloc(2 * frames * sizeof *steps), *displaced = steps + frames;
    FILE *file = fopen(arguments[3], "wb");
    if (!file || !out || !steps) {
        fprintf(stderr, "%s cannot be written\n", arguments[3]);
        return 1;
    }
    for (size_t frame = 0; frame < frames; frame++) {
        double begin = micros();
        check(jounce_step(player, poses + 12 * bones * frame, bones, atof(arguments[2])));
        double middle = micros();
        check(jounce_displacements(player, out, 3 * points));
        displaced[frame] = micros() - middle;
        steps[frame] = middle - begin;
        fwrite(out, sizeof *out, 3 * points, file);
    }
    qsort(steps, frames, sizeof *steps, compare);
    qsort(displaced, frames, sizeof *steps, compare);
    printf("%.1f %.1f\n", steps[frames / 2], displaced[frames / 2]);
    fclose(file);
    jounce_free(player);
    return 0;
}
