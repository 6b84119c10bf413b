/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The test of librecord.hpp: cplusplus FILE, in a directory that it may write to. It prints each mistake. */
#include <librecord.hpp>

#include <array>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <type_traits>
#if __cplusplus >= 202002L
#include <iterator>
#include <ranges>
#include <span>
#endif

namespace lr = librecord;

static int mistakes;

static void check(bool ok, const char *what, int line)
{
    if (!ok) {
        std::fprintf(stderr, "%d: %s\n", line, what);
        mistakes++;
    }
}
#define CHECK(condition) check(condition, #condition, __LINE__)

/* Returns the exception of type E that a call throws; a mistake if there is none. */
template <typename E, typename Call> static std::optional<E> thrown_by(Call call, int line)
{
    try {
        call();
    } catch (const E &error) {
        return error;
    } catch (const std::exception &error) {
        check(false, error.what(), line);
        return std::nullopt;
    }
    check(false, "nothing was thrown", line);
    return std::nullopt;
}
#define THROWN(type, call) thrown_by<type>([&] { call; }, __LINE__)

template <typename T>
constexpr bool move_only = std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_assignable_v<T> &&
                           !std::is_copy_constructible_v<T> && !std::is_copy_assignable_v<T>;
static_assert(move_only<lr::Context> && move_only<lr::Recorder> && move_only<lr::Record>);
static_assert(move_only<lr::Plan> && move_only<lr::Types> && move_only<lr::Bytes>);
/* A loop over the tensors of a temporary record does not compile. */
template <typename T, typename = void> constexpr bool has_tensors = false;
template <typename T> constexpr bool has_tensors<T, std::void_t<decltype(std::declval<T>().tensors())>> = true;
static_assert(has_tensors<lr::Record &> && has_tensors<const lr::Record &> && !has_tensors<lr::Record>);
static_assert(std::is_nothrow_copy_constructible_v<lr::Error> && std::is_base_of_v<std::runtime_error, lr::Error>);
static_assert(sizeof(lr::Tensor) == sizeof(void *) && std::is_trivially_copyable_v<lr::Tensor>);
#if __cplusplus >= 202002L
static_assert(std::ranges::input_range<lr::Tensors> && std::ranges::contiguous_range<lr::Span<const float>>);
#endif

static lr::Record made()
{
    lr::Record record;
    record.set("linear.weight", std::vector<float>{1, 2, 3, 4, 5, 6}, {3, 2});
    record.set("linear.bias", std::array<float, 2>{0.5F, -0.5F}, {2}, nullptr);
    record.set("mask", std::array<bool, 2>{true, false}, {2});
    record.set("empty", std::vector<std::int64_t>(), {0, 4});
    lr::check(rec_set_uint(record.get(), "step", 7));
    return record;
}

static void test_range(const lr::Record &record)
{
    std::vector<std::string> paths;
    std::uint64_t elements = 0;
    for (auto [path, tensor] : record.tensors()) {
        paths.emplace_back(path);
        elements += rec_tensor_count(tensor.get());
    }
    CHECK((paths == std::vector<std::string>{"linear.weight", "linear.bias", "mask", "empty"}));
    CHECK(elements == 10);
    const lr::Record nothing;
    const lr::Tensors tensors = record.tensors(), none = nothing.tensors();
    CHECK(std::distance(tensors.begin(), tensors.end()) == 4 && none.begin() == none.end());
}

static void test_tensors(const lr::Record &record)
{
    const lr::Tensor weight = record["linear.weight"];
    CHECK(weight.shape().size() == 2 && weight.shape()[0] == 3 && weight.shape()[1] == 2);
    CHECK(rec_tensor_dtype(weight.get()) == REC_DTYPE_F32 && weight.bytes().size() == 24);
    CHECK(std::string(rec_tensor_id(weight.get())).size() == 13 && !rec_tensor_id(record["linear.bias"].get()));
    CHECK(weight.as<float>()[5] == 6.0F && weight.as<double>()[0] == 1.0 && weight.as<std::uint16_t>()[0] == 0x3c00);
    CHECK(record["mask"].as<std::uint8_t>()[0] == 1 && record["empty"].as<std::int64_t>().size() == 0);
    std::array<double, 2> part = {};
    weight.read(4, part);
    CHECK(part[0] == 5.0 && part[1] == 6.0);
    std::vector<float> rest(3);
    weight.read(1, lr::Span<float>(rest.data(), 2));
    CHECK(rest[0] == 2.0F && rest[1] == 3.0F && rest[2] == 0.0F);
    const auto mismatch = THROWN(lr::Error, weight.as<std::int64_t>());
    CHECK(mismatch && mismatch->parts->status == REC_E_MISMATCH && mismatch->parts->path == "linear.weight");
    THROWN(lr::Error, weight.read(5, part));
    THROWN(lr::Error, record["linear"]);
#if __cplusplus >= 202002L
    const std::span<const float> span = weight.as<float>();
    CHECK(span.back() == 6.0F);
#endif
}

static void test_numbers()
{
    lr::Record record;
    record.set("i8", std::array<std::int8_t, 1>{-8}, {1});
    record.set("i16", std::array<std::int16_t, 1>{-16}, {1});
    record.set("u32", std::array<std::uint32_t, 1>{32}, {1});
    record.set("long", std::array<long, 1>{-64}, {1});
    record.set("u64", std::array<unsigned long long, 1>{64}, {});
    record.set("f64", std::array<double, 1>{0.25}, {1});
    const std::array<std::pair<const char *, rec_dtype>, 6> dtypes = {
        {{"i8", REC_DTYPE_I8},
         {"i16", REC_DTYPE_I16},
         {"u32", REC_DTYPE_U32},
         {"long", sizeof(long) == 8 ? REC_DTYPE_I64 : REC_DTYPE_I32},
         {"u64", REC_DTYPE_U64},
         {"f64", REC_DTYPE_F64}}};
    for (auto [path, dtype] : dtypes) {
        CHECK(rec_tensor_dtype(record[path].get()) == dtype);
    }
    CHECK(record["i8"].as<std::int64_t>()[0] == -8 && record["i16"].as<std::int32_t>()[0] == -16);
    CHECK(record["f64"].as<float>()[0] == 0.25F && record["u64"].shape().size() == 0);
    THROWN(lr::Error, record.set("two", std::array<float, 2>{}, {3}));
}

static void test_functions_of_c(const lr::Record &record)
{
    const lr::Record copy(rec_record_copy(record.get()));
    lr::check(rec_move(copy.get(), "linear", "again"));
    CHECK(copy["again.weight"].as<float>()[0] == 1.0F && rec_value_at(record.get(), "linear"));
    const auto missing = THROWN(lr::Error, lr::check(rec_remove(copy.get(), "linear")));
    CHECK(missing && missing->parts->status == REC_E_NOT_FOUND);
    CHECK(lr::check(rec_tensor_f32(copy["again.bias"].get()))[1] == -0.5F);
    THROWN(std::invalid_argument, copy[std::string("a\0b", 3)]);
    THROWN(lr::Error, lr::Context(rec_config_open("nowhere.ini")));
}

static void test_files(const lr::Record &record)
{
    lr::Recorder recorder("NamedMpk");
    lr::check(rec_recorder_set(recorder.get(), "sync", "no"));
    recorder.save(record, std::filesystem::path("made"));
    const lr::Record loaded = recorder.load("made.mpk");
    CHECK(loaded["linear.weight"].as<float>()[2] == 3.0F);
    CHECK(std::string(rec_record_origin(loaded.get())->recorder) == "NamedMpk");
    lr::Recorder half("NamedMpkGz", REC_PRECISION_HALF);
    lr::check(rec_convert(recorder.get(), "made.mpk", half.get(), "half.mpk.gz", nullptr));
    CHECK(rec_tensor_dtype(half.load("half")["linear.weight"].get()) == REC_DTYPE_F16);
    const auto absent = THROWN(lr::Error, recorder.load("nowhere"));
    CHECK(absent && absent->parts->status == REC_E_NOT_FOUND && absent->parts->system_error == 2);
    CHECK(absent && absent->parts->file == "nowhere.mpk" &&
          std::string(absent->what()).find("nowhere") != std::string::npos);
    THROWN(lr::Error, lr::Recorder("NoSuchRecorder"));
}

static void test_memory(const lr::Record &record)
{
    lr::Recorder recorder("NamedMpkBytes");
    const lr::Bytes bytes = recorder.save(record);
    CHECK(recorder.load(bytes)["linear.weight"].as<float>()[1] == 2.0F);
    std::vector<std::byte> owned(bytes.begin(), bytes.end());
    const lr::Record loaded = recorder.load(std::move(owned));
    CHECK(loaded["linear.weight"].as<float>()[1] == 2.0F);
    std::vector<std::byte> truncated(bytes.begin(), bytes.begin() + 9);
    const auto error = THROWN(lr::Error, recorder.load(std::move(truncated)));
    CHECK(error && error->parts->status == REC_E_FORMAT && error->parts->offset != REC_UNKNOWN);
}

static void test_callbacks(const lr::Record &record)
{
    lr::Context context;
    int progress = 0;
    context.on_progress([&progress](const rec_progress &) { return progress++, false; });
    lr::Context moved = std::move(context);
    lr::Recorder recorder("NamedMpk", REC_PRECISION_FULL, moved.get());
    recorder.save(record, "watched");
    CHECK(progress > 0);

    moved.on_progress([](const rec_progress &) { return true; });
    const auto cancelled = THROWN(lr::Error, recorder.load("watched"));
    CHECK(cancelled && cancelled->parts->status == REC_E_CANCELLED);
    moved.on_progress([](const rec_progress &) -> bool { throw std::out_of_range("from a callback"); });
    const auto carried = THROWN(std::out_of_range, recorder.load("watched"));
    CHECK(carried && std::string(carried->what()) == "from a callback");
    THROWN(std::out_of_range, recorder.save(record));
    moved.on_progress(nullptr);
    CHECK(recorder.load("watched")["mask"].shape()[0] == 2);
    moved.on_progress([](const rec_progress &) { return true; });
    { /* a recorder outlives its context, whose callback is no longer called */
        lr::Context gone = std::move(moved);
    }
    recorder.save(record, "watched");
}

static void test_plans(const lr::Record &record)
{
    lr::Recorder from("NamedMpk"), to("Safetensors");
    lr::check(rec_recorder_set(from.get(), "rename", "^linear => dense"));
    lr::Plan plan(rec_plan_new(nullptr, to.get()));
    lr::check(rec_plan_add(plan.get(), from.get(), "made.mpk"));
    lr::check(rec_convert(nullptr, nullptr, to.get(), "planned.safetensors", plan.get()));
    CHECK(to.load("planned")["dense.bias"].shape()[0] == 2);
    lr::Plan loaded(rec_plan_new(nullptr, nullptr));
    lr::check(rec_plan_add_record(loaded.get(), nullptr, record.get(), "(made)"));
    CHECK(lr::Record(rec_plan_load(loaded.get()))["linear.weight"].as<float>()[3] == 4.0F);
    lr::Plan empty(rec_plan_new(nullptr, nullptr));
    THROWN(lr::Error, lr::Record(rec_plan_load(empty.get())));
}

static void test_types(const char *tiny)
{
    const lr::Record record = lr::Recorder("NamedMpk").load(tiny);
    std::FILE *file = std::fopen("model.rs", "w");
    std::fputs("#[derive(Module, Debug)]\npub struct Model<B: Backend> { linear: nn::Linear<B> }\n", file);
    std::fclose(file);
    lr::Types types(rec_types_new(nullptr));
    lr::check(rec_types_add_file(types.get(), "model.rs"));
    lr::Recorder bin("BinFile");
    lr::check(rec_recorder_set_type_name(bin.get(), types.get(), "Model"));
    bin.save(record, "tiny");
    CHECK(bin.load("tiny.bin")["linear.weight"].as<float>().size() == 6);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        return 2;
    }
    try {
        const lr::Record record = made();
        test_range(record);
        test_tensors(record);
        test_numbers();
        test_functions_of_c(record);
        test_files(record);
        test_memory(record);
        test_callbacks(record);
        test_plans(record);
        test_types(argv[1]);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return mistakes != 0;
}
