/* The flesh of a character as an engine shows it: poses of a skeleton in, rest places of vertices out.
 *
 * Transforms are row-major 3x4 matrices. A function that returns text returns NULL, or one sentence after an
 * error.
 */
#ifndef JOUNCE_FLESH_H
#define JOUNCE_FLESH_H

#include <stddef.h>
#include <stdint.h>

#include "jounce_player.h"

/* A mesh whose vertices hang in the body, skinned by the engine. */
typedef struct {
    size_t first, count;          /* points of the player */
    float *rest;                  /* 3 a vertex, as in the mesh */
    size_t binds;                 /* bones of the skin; 0 for a mesh that only its own transform moves */
    int32_t *bones;               /* bone of the skeleton for each */
    double *inverse_binds;        /* 12 for each */
    size_t influences;            /* for each vertex */
    int32_t *indices;             /* of the skin's bones, for each influence */
    float *weights;
    double *blends;               /* 9 for each bone of the skin: linear part from the mesh to the world */
} Surface;

typedef struct {
    JouncePlayer *player;
    size_t joints;                /* bones of the model */
    int32_t *bones;               /* bone of the skeleton for each, or -1 for one placed by itself */
    double *inverse_binds;        /* 12 for each */
    double *pose;                 /* 12 for each */
    size_t skeleton;              /* bones of the skeleton in use */
    double *bone_poses;           /* 12 for each, within the skeleton */
    float *displacements;
    size_t surfaces;
    Surface *surface;
} Flesh;

void flesh_clear(Flesh *flesh);
const char *flesh_load(Flesh *flesh, const uint8_t *model, size_t length);
const char *flesh_attach(Flesh *flesh, const float *places, size_t count);
const char *flesh_bind(Flesh *flesh, const int32_t *bones, const float *inverse_binds, size_t count);
/* Takes over a surface with its arrays, which are freed after an error. */
const char *flesh_add(Flesh *flesh, Surface surface);
/* World transform of a joint without a bone. */
const char *flesh_place(Flesh *flesh, size_t joint, const double *world);
/* A step after `bone_poses` are set. */
const char *flesh_step(Flesh *flesh, const double *to_world, double seconds);
const char *flesh_teleport(Flesh *flesh, const double *to_world);
/* Rest places, 3 a vertex, that the skin carries to the displaced places. to_world: of the mesh. */
void flesh_shape(const Flesh *flesh, const Surface *surface, const double *to_world, float *out);
/* Memory with a copy, and with numbers in double precision; NULL without memory. */
void *flesh_copy(const void *from, size_t bytes);
double *flesh_widened(const float *from, size_t count);

#endif
