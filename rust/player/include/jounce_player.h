/* Plays the flesh of rigged characters: poses in, displacements of vertices out.
 *
 * Every function that returns an int returns 1, or 0 after an error; jounce_error() then has one sentence.
 * One thread at a time uses a player; several players may run on several threads.
 */
#ifndef JOUNCE_PLAYER_H
#define JOUNCE_PLAYER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct JouncePlayer JouncePlayer;

enum JounceSetting {
    JOUNCE_AMOUNT = 0,    /* factor on the motion that the flesh feels: 0 none, 1 as in nature (1) */
    JOUNCE_STIFFNESS = 1, /* factor on the model's stiffness, above 0 (1) */
    JOUNCE_DAMPING = 2,   /* damping ratio of every mode (0.12) */
    JOUNCE_STRETCH = 3,   /* largest change of a length, as a share; 0 for no limit (0.4) */
    JOUNCE_LIMIT = 4,     /* largest displacement, as a share of the body's diagonal; 0 for no limit (0.25) */
    JOUNCE_GRAVITY_X = 5, /* acceleration of gravity, m/s^2 (0) */
    JOUNCE_GRAVITY_Y = 6,
    JOUNCE_GRAVITY_Z = 7,
    JOUNCE_MODES = 8,     /* level of detail: all modes, 8 or 0, whichever is at most this (all) */
    JOUNCE_SLEEP = 9,     /* 1 to stop while nothing moves (1) */
    JOUNCE_POSE_REST = 10, /* elastic rest shape: 0 at the bind shape, 1 at the posed shape (1) */
    JOUNCE_SUBSTEP = 11   /* longest substep, seconds, above 0; a frame has at most eight (1/96) */
};

/* Numbers of a player. */
enum JounceCount {
    JOUNCE_COUNT_BONES = 0, /* transforms of a pose */
    JOUNCE_COUNT_MODES = 1, /* modes of the model */
    JOUNCE_COUNT_POINTS = 2 /* points with displacements */
};

enum JounceShape {
    JOUNCE_PLANE = 0,   /* all behind the plane through start, with the normal end */
    JOUNCE_CAPSULE = 1  /* all within the radius of the segment from start to end; a ball if these are equal */
};

/* A collider, metres. */
typedef struct JounceCollider {
    uint32_t shape;
    int32_t bone;     /* that carries it, with places at rest; -1 for none, with places in the world */
    double start[3];
    double end[3];
    double radius;
    double friction;  /* Coulomb's coefficient, 0 or more */
} JounceCollider;

/* Skinning of the attached points, for contact. */
typedef struct JounceSkin {
    const uint32_t *bones;      /* four bones of each point, as glTF's JOINTS_0 */
    const float *weights;       /* their weights, as WEIGHTS_0 */
    const uint32_t *triangles;  /* three points each; NULL for contact of the points alone */
    size_t triangle_count;
} JounceSkin;

/* Lets go in jounce_grab. */
#define JOUNCE_NO_POINT ((size_t)-1)

/* One sentence about the last error of this thread. */
const char *jounce_error(void);

/* A player of a model file, as Model.save of the Python module writes it; NULL after an error. */
JouncePlayer *jounce_load(const uint8_t *bytes, size_t length);
void jounce_free(JouncePlayer *player);

/* A number of a player, one of JounceCount; 0 after an error. */
size_t jounce_count(JouncePlayer *player, uint32_t what);

/* Chooses the points with displacements: the character's vertices at rest, x y z each, metres. Ends contact. */
int jounce_attach(JouncePlayer *player, const float *places, size_t count);

/* Keeps the points out of colliders, in place of any before; none ends contact. The skin may be NULL for a body
 * without bones. A collider on a bone moves with it, keeps its size, and spares the bone's own points. */
int jounce_collide(JouncePlayer *player, const JounceCollider *colliders, size_t count, const JounceSkin *skin);

/* Moves a collider without a bone, by a row-major 3x4 transform from where it was given, rigid. */
int jounce_move(JouncePlayer *player, size_t collider, const double *transform);

int jounce_set(JouncePlayer *player, uint32_t setting, double value);

/* Advances by some seconds to a pose: for each bone a row-major 3x4 transform from rest to the world. */
int jounce_step(JouncePlayer *player, const double *pose, size_t bones, double seconds);

/* Puts the body into a pose without a kick, after a cut or a leap. */
int jounce_teleport(JouncePlayer *player, const double *pose, size_t bones);

/* Displacement of each point from where the bones put it, world space: 3 numbers a point. A skin of triangles is
   dented by colliders. */
int jounce_displacements(JouncePlayer *player, float *out, size_t count);

/* For a vertex shader: u = sum of weight[k] * (transform[k] * (X, 1)) over the modes k, X at rest.
 * Points x modes weights, which stay, and row-major 3x4 transforms of the modes after each step. */
int jounce_weights(JouncePlayer *player, float *out, size_t count);
int jounce_transforms(JouncePlayer *player, float *out, size_t count);

/* Pulls a point to a displacement from where the bones put it, until JOUNCE_NO_POINT. */
int jounce_grab(JouncePlayer *player, size_t point, const double *displacement);

/* 1 while nothing moves; a step costs nothing then. */
int jounce_is_asleep(JouncePlayer *player);

#ifdef __cplusplus
}
#endif

#endif
