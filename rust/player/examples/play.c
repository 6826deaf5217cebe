/* Plays a model file for some frames on a body that shakes up and down, and prints how far its flesh moves.
 *
 *     cc -std=c99 play.c -I ../include -ljounce_player -o play && ./play body.jounce 300
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "jounce_player.h"

static uint8_t *read_file(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = NULL;
    long size = 0;
    if (file && fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) > 0 && fseek(file, 0, SEEK_SET) == 0) {
        bytes = malloc((size_t)size);
        *length = bytes ? fread(bytes, 1, (size_t)size, file) : 0;
    }
    if (file) {
        fclose(file);
    }
    return bytes;
}

int main(int count, char **arguments)
{
    size_t length = 0;
    uint8_t *bytes = count > 2 ? read_file(arguments[1], &length) : NULL;
    JouncePlayer *player = jounce_load(bytes, length);
    if (!player) {
        fprintf(stderr, "%s\n", jounce_error());
        return 1;
    }
    size_t bones = jounce_count(player, JOUNCE_COUNT_BONES);
    size_t points = jounce_count(player, JOUNCE_COUNT_POINTS);
    double *pose = calloc(12 * bones, sizeof *pose);
    float *displacements = calloc(3 * points, sizeof *displacements);
    for (int frame = 0; frame < atoi(arguments[2]); frame++) {
        for (size_t bone = 0; bone < bones; bone++) {
            double *transform = pose + 12 * bone;
            transform[0] = transform[5] = transform[10] = 1.0;
            transform[11] = 0.05 * sin(0.3 * frame);
        }
        if (!jounce_step(player, pose, bones, 1.0 / 60.0)
            || !jounce_displacements(player, displacements, 3 * points)) {
            fprintf(stderr, "%s\n", jounce_error());
            return 1;
        }
        float most = 0.0f;
        for (size_t i = 0; i < 3 * points; i++) {
            most = fmaxf(most, fabsf(displacements[i]));
        }
        printf("%.9g\n", most);
    }
    free(displacements);
    free(pose);
    jounce_free(player);
    free(bytes);
    return 0;
}
