#include "flesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Smallest determinant of a blend of bones that counts as a place, as a share of its size cubed. */
#define FLAT 1e-6

static const char NO_MEMORY[] = "there is no memory left for the flesh";

void *flesh_copy(const void *from, size_t bytes)
{
    void *made = malloc(bytes ? bytes : 1);
    if (made && bytes) {
        memcpy(made, from, bytes);
    }
    return made;
}

double *flesh_widened(const float *from, size_t count)
{
    double *made = calloc(count + 1, sizeof *made);
    for (size_t i = 0; made && i < count; i++) {
        made[i] = from[i];
    }
    return made;
}

static void surface_clear(Surface *surface)
{
    free(surface->rest);
    free(surface->bones);
    free(surface->inverse_binds);
    free(surface->indices);
    free(surface->weights);
    free(surface->blends);
}

void flesh_clear(Flesh *flesh)
{
    for (size_t i = 0; i < flesh->surfaces; i++) {
        surface_clear(&flesh->surface[i]);
    }
    jounce_free(flesh->player);
    free(flesh->bones);
    free(flesh->inverse_binds);
    free(flesh->pose);
    free(flesh->bone_poses);
    free(flesh->displacements);
    free(flesh->surface);
    memset(flesh, 0, sizeof *flesh);
}

static const char *make_room(Flesh *flesh)
{
    free(flesh->displacements);
    flesh->displacements = calloc(3 * jounce_count(flesh->player, JOUNCE_COUNT_POINTS) + 1, sizeof(float));
    return flesh->displacements ? NULL : NO_MEMORY;
}

const char *flesh_load(Flesh *flesh, const uint8_t *model, size_t length)
{
    flesh_clear(flesh);
    flesh->player = jounce_load(model, length);
    return flesh->player ? make_room(flesh) : jounce_error();
}

const char *flesh_attach(Flesh *flesh, const float *places, size_t count)
{
    return jounce_attach(flesh->player, places, count) ? make_room(flesh) : jounce_error();
}

/* Room for the poses of the skeleton's bones up to the largest in use. */
static const char *reach(Flesh *flesh, const int32_t *bones, size_t count)
{
    size_t most = flesh->skeleton;
    for (size_t i = 0; i < count; i++) {
        most = bones[i] >= 0 && (size_t)bones[i] + 1 > most ? (size_t)bones[i] + 1 : most;
    }
    double *room = realloc(flesh->bone_poses, (12 * most + 1) * sizeof(double));
    if (!room) {
        return NO_MEMORY;
    }
    flesh->bone_poses = room;
    flesh->skeleton = most;
    return NULL;
}

const char *flesh_bind(Flesh *flesh, const int32_t *bones, const float *inverse_binds, size_t count)
{
    if (!flesh->player || count != jounce_count(flesh->player, JOUNCE_COUNT_BONES)) {
        return "the joints are not those of the model; import the file again";
    }
    free(flesh->bones);
    free(flesh->inverse_binds);
    free(flesh->pose);
    flesh->joints = count;
    flesh->bones = flesh_copy(bones, count * sizeof *bones);
    flesh->inverse_binds = flesh_widened(inverse_binds, 12 * count);
    flesh->pose = calloc(12 * count + 1, sizeof *flesh->pose);
    if (!flesh->bones || !flesh->inverse_binds || !flesh->pose) {
        flesh->joints = 0;
        return NO_MEMORY;
    }
    return reach(flesh, bones, count);
}

/* One sentence about a surface that contradicts itself or the player; NULL for none. */
static const char *surface_fault(const Flesh *flesh, const Surface *surface)
{
    size_t points = jounce_count(flesh->player, JOUNCE_COUNT_POINTS);
    if (surface->first > points || surface->count > points - surface->first) {
        return "a mesh contradicts its body; import the file again";
    }
    for (size_t i = 0; surface->binds && i < surface->influences * surface->count; i++) {
        if (surface->indices[i] < 0 || (size_t)surface->indices[i] >= surface->binds) {
            return "a vertex hangs on a bone that its skin does not have; import the file again";
        }
    }
    for (size_t i = 0; i < surface->binds; i++) {
        if (surface->bones[i] < 0) {
            return "a skin has a bone that is not in the skeleton; import the file again";
        }
    }
    return NULL;
}

const char *flesh_add(Flesh *flesh, Surface surface)
{
    surface.blends = calloc(9 * surface.binds + 1, sizeof *surface.blends);
    Surface *room = realloc(flesh->surface, (flesh->surfaces + 1) * sizeof *room);
    flesh->surface = room ? room : flesh->surface;
    int has_memory = room && surface.rest && surface.bones && surface.inverse_binds && surface.indices
        && surface.weights && surface.blends;
    const char *fault = has_memory ? surface_fault(flesh, &surface) : NO_MEMORY;
    fault = fault ? fault : reach(flesh, surface.bones, surface.binds);
    if (fault) {
        surface_clear(&surface);
        return fault;
    }
    flesh->surface[flesh->surfaces++] = surface;
    return NULL;
}

/* Product of two transforms. */
static void multiply(const double *a, const double *b, double *out)
{
    for (int row = 0; row < 3; row++) {
        for (int column = 0; column < 4; column++) {
            double sum = column == 3 ? a[4 * row + 3] : 0.0;
            for (int k = 0; k < 3; k++) {
                sum += a[4 * row + k] * b[4 * k + column];
            }
            out[4 * row + column] = sum;
        }
    }
}

const char *flesh_place(Flesh *flesh, size_t joint, const double *world)
{
    if (joint >= flesh->joints) {
        return "there is no such joint in the body; import the file again";
    }
    multiply(world, flesh->inverse_binds + 12 * joint, flesh->pose + 12 * joint);
    return NULL;
}

static void set_pose(Flesh *flesh, const double *to_world)
{
    for (size_t joint = 0; joint < flesh->joints; joint++) {
        if (flesh->bones[joint] >= 0) {
            double world[12];
            multiply(to_world, flesh->bone_poses + 12 * flesh->bones[joint], world);
            flesh_place(flesh, joint, world);
        }
    }
}

static const char *show(Flesh *flesh, int moved)
{
    size_t count = 3 * jounce_count(flesh->player, JOUNCE_COUNT_POINTS);
    return moved && jounce_displacements(flesh->player, flesh->displacements, count) ? NULL : jounce_error();
}

const char *flesh_step(Flesh *flesh, const double *to_world, double seconds)
{
    set_pose(flesh, to_world);
    return show(flesh, jounce_step(flesh->player, flesh->pose, flesh->joints, seconds));
}

const char *flesh_teleport(Flesh *flesh, const double *to_world)
{
    set_pose(flesh, to_world);
    return show(flesh, jounce_teleport(flesh->player, flesh->pose, flesh->joints));
}

/* Adds a solution of `m d = u` to a place; none where bones fold a mesh flat. */
static void pull_back(const double *m, const float *u, float *place)
{
    double x[3], cofactors[9], size = 0.0;
    for (int i = 0; i < 9; i++) {
        int row = i / 3, column = i % 3;
        int a = (row + 1) % 3, b = (row + 2) % 3, c = (column + 1) % 3, d = (column + 2) % 3;
        cofactors[i] = m[3 * a + c] * m[3 * b + d] - m[3 * a + d] * m[3 * b + c];
        size += m[i] * m[i];
    }
    double determinant = m[0] * cofactors[0] + m[1] * cofactors[1] + m[2] * cofactors[2];
    if (!(fabs(determinant) > FLAT * size * sqrt(size))) {
        return;
    }
    for (int c = 0; c < 3; c++) {
        x[c] = (cofactors[c] * u[0] + cofactors[3 + c] * u[1] + cofactors[6 + c] * u[2]) / determinant;
        place[c] = (float)(place[c] + x[c]);
    }
}

void flesh_shape(const Flesh *flesh, const Surface *surface, const double *to_world, float *out)
{
    double own[9];
    for (int i = 0; i < 9; i++) {
        own[i] = to_world[4 * (i / 3) + i % 3];
    }
    for (size_t bone = 0; bone < surface->binds; bone++) {
        double posed[12], world[12];
        multiply(flesh->bone_poses + 12 * surface->bones[bone], surface->inverse_binds + 12 * bone, posed);
        multiply(to_world, posed, world);
        for (int i = 0; i < 9; i++) {
            surface->blends[9 * bone + i] = world[4 * (i / 3) + i % 3];
        }
    }
    memcpy(out, surface->rest, 3 * surface->count * sizeof *out);
    for (size_t vertex = 0; vertex < surface->count; vertex++) {
        double blend[9] = {0.0};
        const int32_t *indices = surface->indices + surface->influences * vertex;
        const float *weights = surface->weights + surface->influences * vertex;
        for (size_t k = 0; surface->binds && k < surface->influences; k++) {
            for (int i = 0; weights[k] != 0.0f && i < 9; i++) {
                blend[i] += weights[k] * surface->blends[9 * indices[k] + i];
            }
        }
        const float *displacement = flesh->displacements + 3 * (surface->first + vertex);
        pull_back(surface->binds ? blend : own, displacement, out + 3 * vertex);
    }
}
