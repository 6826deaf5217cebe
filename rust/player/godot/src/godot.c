/* The class JounceBody of Godot 4, over GDExtension's interface in C: one character's body, with its meshes.
 *
 * A method has one row in METHODS and one function. Arrays of numbers are PackedByteArrays: of 32-bit floats,
 * 32-bit integers and rows of 12 floats for a transform. A method that returns text returns one sentence, or
 * none.
 */
#include <stdlib.h>
#include <string.h>

#include "flesh.h"
#include "gdextension_interface.h"

#define MOST_ARGUMENTS 6
#define POSTINITIALIZE 0
/* Usage of a property in a class: kept and shown. */
#define USAGE 6

/* Names of the engine are pointers, as texts are. */
typedef void *Name;
/* Room for a value of any type in use. */
typedef union {
    double number;
    int64_t integer;
    void *pointer;
    char room[64];
} Value;

typedef struct {
    const char *name;
    void (*call)(Flesh *flesh, const GDExtensionConstTypePtr *arguments, GDExtensionTypePtr out);
    GDExtensionVariantType returns;
    uint32_t count;
    const char *names[MOST_ARGUMENTS];
    GDExtensionVariantType types[MOST_ARGUMENTS];
} Method;

static GDExtensionClassLibraryPtr library;
static Name class_name, parent_name;

static struct {
    GDExtensionInterfaceStringNameNewWithLatin1Chars name;
    GDExtensionInterfaceStringNewWithUtf8Chars text;
    GDExtensionInterfaceClassdbConstructObject2 construct;
    GDExtensionInterfaceObjectSetInstance set_instance;
    GDExtensionInterfaceObjectMethodBindPtrcall ptrcall;
    GDExtensionInterfaceVariantGetType type_of;
    GDExtensionInterfaceGetVariantFromTypeConstructor to_variant;
    GDExtensionInterfaceGetVariantToTypeConstructor from_variant;
    GDExtensionInterfaceVariantGetPtrConstructor constructor;
    GDExtensionInterfaceVariantGetPtrDestructor destructor;
    GDExtensionInterfacePackedByteArrayOperatorIndex bytes;
    GDExtensionInterfacePackedByteArrayOperatorIndexConst const_bytes;
    GDExtensionPtrBuiltInMethod size, resize;
    GDExtensionMethodBindPtr notification, bone_pose;
} engine;

/* Bytes of an array, and their number. */
static const void *bytes(GDExtensionConstTypePtr array, size_t *count)
{
    int64_t size = 0;
    engine.size((GDExtensionTypePtr)array, NULL, &size, 0);
    *count = (size_t)size;
    return size ? engine.const_bytes(array, 0) : NULL;
}

/* A copy of an array, and the number of its entries of some width. */
static void *numbers(GDExtensionConstTypePtr array, size_t width, size_t *count)
{
    size_t size;
    const void *from = bytes(array, &size);
    *count = size / width;
    return flesh_copy(from, size);
}

/* Room for bytes in an array that is returned. */
static void *room(GDExtensionTypePtr array, size_t count)
{
    int64_t size = (int64_t)count, failed = 0;
    GDExtensionConstTypePtr arguments[] = {&size};
    engine.resize(array, arguments, &failed, 1);
    return count ? engine.bytes(array, 0) : NULL;
}

static void say(GDExtensionTypePtr out, const char *sentence)
{
    if (sentence) {
        engine.text(out, sentence);
    }
}

/* The engine keeps three rows of three numbers, and the origin after them. */
static void transform(const float *from, double *out)
{
    for (int row = 0; row < 3; row++) {
        for (int column = 0; column < 3; column++) {
            out[4 * row + column] = from[3 * row + column];
        }
        out[4 * row + 3] = from[9 + row];
    }
}

static void load(Flesh *flesh, const GDExtensionConstTypePtr *arguments, GDExtensionTypePtr out)
{
    size_t length;
    const void *model = bytes(arguments[0], &length);
    say(out, flesh_load(flesh, model, length));
}

static void attach(Flesh *flesh, const GDExtensionConstTypePtr *arguments, GDExtensionTypePtr out)
{
    size_t length;
    const float *places = bytes(arguments[0], &length);
    say(out, flesh_attach(flesh, places, length / (3 * sizeof(float))));
}

static void bind(Flesh *flesh, const GDExtensionConstTypePtr *arguments, GDExtensionTypePtr out)
{
    size_t bones, binds;
    const int32_t *bone = bytes(arguments[0], &bones);
    const float *inverse_binds = bytes(arguments[1], &binds);
    const char *fault = "a joint needs one transform";
    say(out, binds == 12 * bones ? flesh_bind(flesh, bone, inverse_binds, bones / sizeof *bone) : fault);
}

static void add_surface(Flesh *flesh, const GDExtensionConstTypePtr *arguments, GDExtensionTypePtr out)
{
    size_t binds, weights, indices;
    Surface surface = {.first = (size_t) * (const int64_t *)arguments[0]};
    surface.rest = numbers(arguments[1], 3 * sizeof(float), &surface.count);
    surface.bones = numbers(arguments[2], sizeof(int32_t), &surface.binds);
    const float *inverse_binds = bytes(arguments[3], &binds);
    binds /= sizeof(float);
    surface.inverse_binds = flesh_widened(inverse_binds, binds);
    surface.indices = numbers(arguments[4], sizeof(int32_t), &indices);
    surface.weights = numbers(arguments[5], sizeof(float), &weights);
    surface.influences = surface.count ? indices / surface.count : 0;
    if (binds != 12 * surface.binds || weights != indices || surface.influences * surface.count != indices) {
        surface.count = SIZE_MAX;
        surface.binds = 0;
    }
    say(out, flesh_add(flesh, surface));
}

static void set(Flesh *flesh, const GDExtensionConstTypePtr *arguments, GDExtensionTypePtr out)
{
    uint32_t setting = (uint32_t) * (const int64_t *)arguments[0];
    say(out, jounce_set(flesh->player, setting, *(const double *)arguments[1]) ? NULL : jounce_error());
}

static void place(Flesh *flesh, const GDExtensionConstTypePtr *arguments, GDExtensionTypePtr out)
{
    double world[12];
    transform(arguments[1], world);
    say(out, flesh_place(flesh, (size_t) * (const int64_t *)arguments[0], world));
}

/* Takes the poses of a Skeleton3D's bones; to_world is its global transform. */
static void take(Flesh *flesh, const GDExtensionConstTypePtr *arguments, double *to_world)
{
    GDExtensionObjectPtr skeleton = *(const GDExtensionObjectPtr *)arguments[0];
    for (size_t bone = 0; skeleton && bone < flesh->skeleton; bone++) {
        int64_t index = (int64_t)bone;
        GDExtensionConstTypePtr own[] = {&index};
        float posed[12];
        engine.ptrcall(engine.bone_pose, skeleton, own, posed);
        transform(posed, flesh->bone_poses + 12 * bone);
    }
    transform(arguments[1], to_world);
}

static void step(Flesh *flesh, const GDExtensionConstTypePtr *arguments, GDExtensionTypePtr out)
{
    double to_world[12];
    take(flesh, arguments, to_world);
    say(out, flesh_step(flesh, to_world, *(const double *)arguments[2]));
}

static void teleport(Flesh *flesh, const GDExtensionConstTypePtr *arguments, GDExtensionTypePtr out)
{
    double to_world[12];
    take(flesh, arguments, to_world);
    say(out, flesh_teleport(flesh, to_world));
}

static void grab(Flesh *flesh, const GDExtensionConstTypePtr *arguments, GDExtensionTypePtr out)
{
    const float *wanted = arguments[1];
    double displacement[] = {wanted[0], wanted[1], wanted[2]};
    int64_t point = *(const int64_t *)arguments[0];
    size_t grabbed = point < 0 ? JOUNCE_NO_POINT : (size_t)point;
    say(out, jounce_grab(flesh->player, grabbed, displacement) ? NULL : jounce_error());
}

static void is_asleep(Flesh *flesh, const GDExtensionConstTypePtr *arguments, GDExtensionTypePtr out)
{
    (void)arguments;
    *(GDExtensionBool *)out = flesh->player && jounce_is_asleep(flesh->player);
}

static void displacements(Flesh *flesh, const GDExtensionConstTypePtr *arguments, GDExtensionTypePtr out)
{
    (void)arguments;
    size_t size = flesh->player ? 3 * jounce_count(flesh->player, JOUNCE_COUNT_POINTS) * sizeof(float) : 0;
    void *to = room(out, size);
    if (size) {
        memcpy(to, flesh->displacements, size);
    }
}

static void vertices(Flesh *flesh, const GDExtensionConstTypePtr *arguments, GDExtensionTypePtr out)
{
    int64_t index = *(const int64_t *)arguments[0];
    if (index >= 0 && (size_t)index < flesh->surfaces) {
        const Surface *surface = flesh->surface + index;
        double to_world[12];
        transform(arguments[1], to_world);
        flesh_shape(flesh, surface, to_world, room(out, 3 * surface->count * sizeof(float)));
    }
}

#define BOOL GDEXTENSION_VARIANT_TYPE_BOOL
#define INT GDEXTENSION_VARIANT_TYPE_INT
#define FLOAT GDEXTENSION_VARIANT_TYPE_FLOAT
#define TEXT GDEXTENSION_VARIANT_TYPE_STRING
#define VECTOR GDEXTENSION_VARIANT_TYPE_VECTOR3
#define TRANSFORM GDEXTENSION_VARIANT_TYPE_TRANSFORM3D
#define OBJECT GDEXTENSION_VARIANT_TYPE_OBJECT
#define BYTES GDEXTENSION_VARIANT_TYPE_PACKED_BYTE_ARRAY

static const Method METHODS[] = {
    {"load", load, TEXT, 1, {"model"}, {BYTES}},
    {"attach", attach, TEXT, 1, {"places"}, {BYTES}},
    {"bind", bind, TEXT, 2, {"bones", "inverse_binds"}, {BYTES, BYTES}},
    {"add_surface", add_surface, TEXT, 6,
        {"first", "rest", "bones", "inverse_binds", "indices", "weights"},
        {INT, BYTES, BYTES, BYTES, BYTES, BYTES}},
    {"set_setting", set, TEXT, 2, {"setting", "value"}, {INT, FLOAT}},
    {"place", place, TEXT, 2, {"joint", "world"}, {INT, TRANSFORM}},
    {"step", step, TEXT, 3, {"skeleton", "to_world", "seconds"}, {OBJECT, TRANSFORM, FLOAT}},
    {"teleport", teleport, TEXT, 2, {"skeleton", "to_world"}, {OBJECT, TRANSFORM}},
    {"grab", grab, TEXT, 2, {"point", "displacement"}, {INT, VECTOR}},
    {"is_asleep", is_asleep, BOOL, 0, {0}, {0}},
    {"displacements", displacements, BYTES, 0, {0}, {0}},
    {"vertices", vertices, BYTES, 2, {"surface", "to_world"}, {INT, TRANSFORM}},
};

static void ptrcall(void *userdata, GDExtensionClassInstancePtr self,
    const GDExtensionConstTypePtr *arguments, GDExtensionTypePtr out)
{
    ((const Method *)userdata)->call(self, arguments, out);
}

static void destroy(GDExtensionVariantType type, Value *value)
{
    GDExtensionPtrDestructor destructor = engine.destructor(type);
    if (destructor) {
        destructor(value);
    }
}

/* True if a variant of a type can be an argument of another: numbers stand for each other. */
static int is_taken(GDExtensionVariantType given, GDExtensionVariantType wanted)
{
    return given == wanted || ((given == INT || given == FLOAT) && (wanted == INT || wanted == FLOAT))
        || (given == GDEXTENSION_VARIANT_TYPE_NIL && wanted == OBJECT);
}

static int has_fault(const Method *method, const GDExtensionConstVariantPtr *given, GDExtensionInt count,
    GDExtensionCallError *error)
{
    if (count != method->count) {
        error->error = count < method->count ? GDEXTENSION_CALL_ERROR_TOO_FEW_ARGUMENTS
                                             : GDEXTENSION_CALL_ERROR_TOO_MANY_ARGUMENTS;
        error->expected = (int32_t)method->count;
        return 1;
    }
    for (uint32_t i = 0; i < method->count; i++) {
        if (!is_taken(engine.type_of(given[i]), method->types[i])) {
            error->error = GDEXTENSION_CALL_ERROR_INVALID_ARGUMENT;
            error->argument = (int32_t)i;
            error->expected = (int32_t)method->types[i];
            return 1;
        }
    }
    return 0;
}

static void call(void *userdata, GDExtensionClassInstancePtr self, const GDExtensionConstVariantPtr *given,
    GDExtensionInt count, GDExtensionVariantPtr out, GDExtensionCallError *error)
{
    const Method *method = userdata;
    Value values[MOST_ARGUMENTS], made;
    GDExtensionConstTypePtr arguments[MOST_ARGUMENTS];
    if (has_fault(method, given, count, error)) {
        return;
    }
    for (uint32_t i = 0; i < method->count; i++) {
        engine.from_variant(method->types[i])(&values[i], (GDExtensionVariantPtr)given[i]);
        arguments[i] = &values[i];
    }
    engine.constructor(method->returns, 0)(&made, NULL);
    method->call(self, arguments, &made);
    engine.to_variant(method->returns)(out, &made);
    destroy(method->returns, &made);
    for (uint32_t i = 0; i < method->count; i++) {
        destroy(method->types[i], &values[i]);
    }
}

static GDExtensionObjectPtr create(void *userdata, GDExtensionBool notify)
{
    (void)userdata;
    GDExtensionObjectPtr object = engine.construct(&parent_name);
    Flesh *flesh = calloc(1, sizeof *flesh);
    if (!flesh) {
        abort();
    }
    engine.set_instance(object, &class_name, flesh);
    if (notify) {
        int64_t what = POSTINITIALIZE;
        GDExtensionBool reversed = 0;
        GDExtensionConstTypePtr arguments[] = {&what, &reversed};
        engine.ptrcall(engine.notification, object, arguments, NULL);
    }
    return object;
}

static void release(void *userdata, GDExtensionClassInstancePtr self)
{
    (void)userdata;
    flesh_clear(self);
    free(self);
}

static GDExtensionPropertyInfo property(GDExtensionVariantType type, Name *name, Name *empty, Name *hint)
{
    return (GDExtensionPropertyInfo){
        .type = type, .name = name, .class_name = empty, .hint_string = hint, .usage = USAGE};
}

static void register_method(const Method *method, GDExtensionInterfaceClassdbRegisterExtensionClassMethod add)
{
    Name name, empty, text, names[MOST_ARGUMENTS];
    GDExtensionPropertyInfo arguments[MOST_ARGUMENTS], returned;
    GDExtensionClassMethodArgumentMetadata metadata[MOST_ARGUMENTS] = {0};
    engine.name(&name, method->name, 1);
    engine.name(&empty, "", 1);
    engine.text(&text, "");
    for (uint32_t i = 0; i < method->count; i++) {
        engine.name(&names[i], method->names[i], 1);
        arguments[i] = property(method->types[i], &names[i], &empty, &text);
    }
    returned = property(method->returns, &empty, &empty, &text);
    GDExtensionClassMethodInfo info = {.name = &name, .method_userdata = (void *)method, .call_func = call,
        .ptrcall_func = ptrcall, .method_flags = GDEXTENSION_METHOD_FLAGS_DEFAULT, .has_return_value = 1,
        .return_value_info = &returned, .argument_count = method->count, .arguments_info = arguments,
        .arguments_metadata = metadata};
    add(library, &class_name, &info);
}

static GDExtensionInterfaceGetProcAddress find;

static GDExtensionPtrBuiltInMethod method_of_bytes(const char *method, int64_t hash)
{
    Name name;
    engine.name(&name, method, 1);
    GDExtensionInterfaceVariantGetPtrBuiltinMethod get
        = (GDExtensionInterfaceVariantGetPtrBuiltinMethod)find("variant_get_ptr_builtin_method");
    return get(BYTES, &name, hash);
}

static GDExtensionMethodBindPtr method_of(const char *owner, const char *method, int64_t hash)
{
    Name class, name;
    engine.name(&class, owner, 1);
    engine.name(&name, method, 1);
    return ((GDExtensionInterfaceClassdbGetMethodBind)find("classdb_get_method_bind"))(&class, &name, hash);
}

static void initialize(void *userdata, GDExtensionInitializationLevel level)
{
    (void)userdata;
    if (level != GDEXTENSION_INITIALIZATION_SCENE) {
        return;
    }
    engine.name(&class_name, "JounceBody", 1);
    engine.name(&parent_name, "RefCounted", 1);
    engine.bone_pose = method_of("Skeleton3D", "get_bone_global_pose", 1965739696);
    GDExtensionClassCreationInfo4 info
        = {.is_exposed = 1, .create_instance_func = create, .free_instance_func = release};
    GDExtensionInterfaceClassdbRegisterExtensionClass4 add_class
        = (GDExtensionInterfaceClassdbRegisterExtensionClass4)find("classdb_register_extension_class4");
    add_class(library, &class_name, &parent_name, &info);
    GDExtensionInterfaceFunctionPtr add_method = find("classdb_register_extension_class_method");
    for (size_t i = 0; i < sizeof METHODS / sizeof *METHODS; i++) {
        register_method(METHODS + i, (GDExtensionInterfaceClassdbRegisterExtensionClassMethod)add_method);
    }
}

static void deinitialize(void *userdata, GDExtensionInitializationLevel level)
{
    (void)userdata;
    if (level == GDEXTENSION_INITIALIZATION_SCENE) {
        ((GDExtensionInterfaceClassdbUnregisterExtensionClass)find("classdb_unregister_extension_class"))(
            library, &class_name);
    }
}

#define FIND(field, type, name) engine.field = (GDExtensionInterface##type)find(name)

#if defined(_WIN32)
__declspec(dllexport)
#else
__attribute__((visibility("default")))
#endif
GDExtensionBool jounce_godot(GDExtensionInterfaceGetProcAddress get_proc_address,
    GDExtensionClassLibraryPtr own, GDExtensionInitialization *initialization)
{
    find = get_proc_address;
    library = own;
    FIND(name, StringNameNewWithLatin1Chars, "string_name_new_with_latin1_chars");
    FIND(text, StringNewWithUtf8Chars, "string_new_with_utf8_chars");
    FIND(construct, ClassdbConstructObject2, "classdb_construct_object2");
    FIND(set_instance, ObjectSetInstance, "object_set_instance");
    FIND(ptrcall, ObjectMethodBindPtrcall, "object_method_bind_ptrcall");
    FIND(type_of, VariantGetType, "variant_get_type");
    FIND(to_variant, GetVariantFromTypeConstructor, "get_variant_from_type_constructor");
    FIND(from_variant, GetVariantToTypeConstructor, "get_variant_to_type_constructor");
    FIND(constructor, VariantGetPtrConstructor, "variant_get_ptr_constructor");
    FIND(destructor, VariantGetPtrDestructor, "variant_get_ptr_destructor");
    FIND(bytes, PackedByteArrayOperatorIndex, "packed_byte_array_operator_index");
    FIND(const_bytes, PackedByteArrayOperatorIndexConst, "packed_byte_array_operator_index_const");
    engine.size = method_of_bytes("size", 3173160232);
    engine.resize = method_of_bytes("resize", 848867239);
    engine.notification = method_of("Object", "notification", 4023243586);
    initialization->minimum_initialization_level = GDEXTENSION_INITIALIZATION_SCENE;
    initialization->initialize = initialize;
    initialization->deinitialize = deinitialize;
    return 1;
}
