/* Plays a bar on two bones as an engine does, and prints the largest distance of a skinned vertex from its
 * posed place plus its displacement, and the largest displacement. Misuse must get a sentence.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flesh.h"

#define POINTS 200
#define FRAMES 40

static const float REST[24] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};

static void check(const char *fault)
{
    if (fault) {
        fprintf(stderr, "%s\n", fault);
        exit(1);
    }
}

static void refuse(const char *fault, const char *expected)
{
    if (!fault || strcmp(fault, expected) != 0) {
        fprintf(stderr, "expected: %s, got: %s\n", expected, fault ? fault : "nothing");
        exit(1);
    }
}

/* A surface on both bones, whose weights go from one to the other along x. */
static Surface surface(const float *places, int32_t last)
{
    Surface made = {.count = POINTS, .binds = 2, .influences = 2};
    int32_t bones[2] = {0, last}, indices[2 * POINTS];
    float weights[2 * POINTS];
    for (int i = 0; i < POINTS; i++) {
        indices[2 * i] = 0;
        indices[2 * i + 1] = 1;
        weights[2 * i] = 1.0f - 0.5f * places[3 * i];
        weights[2 * i + 1] = 0.5f * places[3 * i];
    }
    made.rest = flesh_copy(places, 3 * POINTS * sizeof *places);
    made.bones = flesh_copy(bones, sizeof bones);
    made.inverse_binds = flesh_widened(REST, 24);
    made.indices = flesh_copy(indices, sizeof indices);
    made.weights = flesh_copy(weights, sizeof weights);
    return made;
}

/* The first bone goes up and down, the second turns as well. */
static void pose(double seconds, double *bones)
{
    double lift = 0.2 * sin(7.0 * seconds), angle = 0.4 * sin(5.0 * seconds);
    double s = sin(angle), c = cos(angle);
    double made[24] = {
        1, 0, 0, 0, 0, 1, 0, lift, 0, 0, 1, 0, c, -s, 0, 1.0 - c, s, c, 0, lift - s, 0, 0, 1, 0};
    memcpy(bones, made, sizeof made);
}

/* Distance of a skinned place from the posed one plus the displacement. */
static double gap(const Flesh *flesh, const double *world, const float *shown, int vertex)
{
    const Surface *surface = flesh->surface;
    double sum = 0.0;
    for (int row = 0; row < 3; row++) {
        double there = -flesh->displacements[3 * vertex + row];
        for (int c = 0; c < 3; c++) {
            double blend = 0.0;
            for (int k = 0; k < 3; k++) {
                for (int bone = 0; bone < 2; bone++) {
                    blend += surface->weights[2 * vertex + bone] * world[4 * row + k]
                        * flesh->bone_poses[12 * bone + 4 * k + c];
                }
            }
            there += blend * (shown[3 * vertex + c] - surface->rest[3 * vertex + c]);
        }
        sum += there * there;
    }
    return sqrt(sum);
}

int main(int count, char **arguments)
{
    FILE *file = count > 1 ? fopen(arguments[1], "rb") : NULL;
    static uint8_t model[1 << 24];
    size_t length = file ? fread(model, 1, sizeof model, file) : 0;
    Flesh flesh = {0};
    refuse(flesh_load(&flesh, (const uint8_t *)"no model", 8), "file: this is not a Jounce model");
    check(flesh_load(&flesh, model, length));
    float places[3 * POINTS], shown[3 * POINTS];
    for (int i = 0; i < POINTS; i++) {
        places[3 * i] = 0.01f * (float)i;
        places[3 * i + 1] = 0.5f * (float)(i % 2);
        places[3 * i + 2] = 0.25f + 0.2f * (float)(i % 3 - 1);
    }
    const int32_t bones[2] = {0, 1};
    const double world[12] = {0, -1, 0, 3, 1, 0, 0, 4, 0, 0, 1, 5};
    check(flesh_attach(&flesh, places, POINTS));
    const char *joints = "the joints are not those of the model; import the file again";
    refuse(flesh_bind(&flesh, bones, REST, 1), joints);
    check(flesh_bind(&flesh, bones, REST, 2));
    const char *skin = "a skin has a bone that is not in the skeleton; import the file again";
    refuse(flesh_add(&flesh, surface(places, -1)), skin);
    check(flesh_add(&flesh, surface(places, 1)));
    double far = 0.0, moved = 0.0;
    for (int frame = 0; frame < FRAMES; frame++) {
        pose(frame / 60.0, flesh.bone_poses);
        check(flesh_step(&flesh, world, 1.0 / 60.0));
        flesh_shape(&flesh, flesh.surface, world, shown);
        for (int vertex = 0; vertex < POINTS; vertex++) {
            far = fmax(far, gap(&flesh, world, shown, vertex));
            moved = fmax(moved, fabs(flesh.displacements[3 * vertex]));
        }
    }
    printf("%.9g %.9g\n", far, moved);
    flesh_clear(&flesh);
    return 0;
}
