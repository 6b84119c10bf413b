/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The test of librecord.hpp: cplusplus FILE, in a directory that it may write to. It prints each mistake. */
#include <librecord.hpp>

#include <array>
#include <cstdio>
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
static_assert(std::is_nothrow_copy_constructible_v<lr::Error> && std::is_base_of_v<std::runtime_error, lr::Error>);
static_assert(sizeof(lr::Tensor) == sizeof(void *) && std::is_trivially_copyable_v<lr::Tensor>);
#if __cplusplus >= 202002L
static_assert(std::ranges::input_range<lr::Record> && std::ranges::contiguous_range<lr::Span<const float>>);
#endif

static lr::Record made()
{
    lr::Record record;
    record.set_tensor("linear.weight", std::vector<float>{1, 2, 3, 4, 5, 6}, {3, 2});
    record.set_tensor("linear.bias", std::array<float, 2>{0.5F, -0.5F}, {2}, std::nullopt);
    record.set_tensor("mask", std::array<bool, 2>{true, false}, {2});
    record.set_tensor("empty", std::vector<std::int64_t>(), {0, 4});
    record.set("step", std::uint32_t{7});
    record.set("least", -3L);
    record.set("rate", 0.25);
    record.set("on", true);
    record.set("name", std::string_view("a\0b", 3));
    record.set("nothing", nullptr);
    return record;
}

static void test_walk(const lr::Record &record)
{
    std::vector<std::string> paths;
    std::uint64_t elements = 0;
    for (auto [path, tensor] : record) {
        paths.emplace_back(path);
        elements += tensor.count();
    }
    CHECK((paths == std::vector<std::string>{"linear.weight", "linear.bias", "mask", "empty"}));
    CHECK(elements == 10);
    CHECK(std::distance(record.begin(), record.end()) == 4);
    CHECK(record.begin().row().rank == 2 && record.begin().row().nbytes == 24);
    const lr::Record none;
    CHECK(none.begin() == none.end());
}

static void test_tensors(const lr::Record &record)
{
    const lr::Tensor weight = record["linear.weight"];
    CHECK(weight.dtype() == REC_DTYPE_F32 && weight.dtype_name() == "f32" && weight.shape().size() == 2);
    CHECK(weight.shape()[0] == 3 && weight.shape()[1] == 2 && weight.count() == 6 && weight.bytes().size() == 24);
    CHECK(weight.id().size() == 13 && record["linear.bias"].id().empty());
    CHECK(weight.as<float>()[5] == 6.0F && weight.as<double>()[0] == 1.0 && weight.as<std::uint16_t>()[0] == 0x3c00);
    CHECK(record["mask"].as<std::uint8_t>()[0] == 1 && record["empty"].as<std::int64_t>().empty());
    std::array<double, 2> part = {};
    weight.read(4, part);
    CHECK(part[0] == 5.0 && part[1] == 6.0);
    std::vector<float> rest(3);
    weight.read(1, lr::Span<float>(rest.data(), 2));
    CHECK(rest[0] == 2.0F && rest[1] == 3.0F && rest[2] == 0.0F);
    const auto mismatch = THROWN(lr::Error, weight.as<std::int64_t>());
    CHECK(mismatch && mismatch->status() == REC_E_MISMATCH && mismatch->path() == "linear.weight");
    THROWN(lr::Error, weight.read(5, part));
#if __cplusplus >= 202002L
    const std::span<const float> span = weight.as<float>();
    CHECK(span.back() == 6.0F);
#endif
}

static void test_values(const lr::Record &record)
{
    CHECK(std::get<std::uint64_t>(record.at("step").scalar()) == 7);
    CHECK(std::get<std::int64_t>(record.at("least").scalar()) == -3);
    CHECK(std::get<double>(record.at("rate").scalar()) == 0.25);
    CHECK(std::get<bool>(record.at("on").scalar()));
    CHECK(std::get<std::string_view>(record.at("name").scalar()) == std::string_view("a\0b", 3));
    CHECK(std::holds_alternative<std::monostate>(record.at("nothing").scalar()));
    CHECK(!record.at("nowhere") && record.at("linear").count() == 2);
    CHECK(std::get<std::string_view>(record.at("linear").key(1)) == "bias");
    CHECK(record.at("linear").child("weight").kind() == REC_KIND_TENSOR);
    lr::Record copy = record.copy();
    copy.set("again", record.at("linear"));
    copy.remove("linear");
    CHECK(copy["again.weight"].as<float>()[0] == 1.0F && record.at("linear"));
    THROWN(lr::Error, copy["linear.weight"]);
    THROWN(std::invalid_argument, copy.set(std::string_view("a\0b", 3), 1));
}

static void test_files(const lr::Record &record)
{
    lr::Recorder recorder("NamedMpk");
    recorder.set("sync", "no").save(record, "made");
    const lr::Record loaded = recorder.load("made.mpk");
    CHECK(loaded["linear.weight"].as<float>()[2] == 3.0F && loaded.metadata("float") == "f32");
    CHECK(!loaded.metadata("nothing") && std::string_view(loaded.origin().recorder) == "NamedMpk");
    lr::Recorder half("NamedMpkGz", lr::Precision::Half);
    lr::convert(recorder, "made.mpk", half, "half.mpk.gz");
    CHECK(half.load("half")["linear.weight"].dtype() == REC_DTYPE_F16);
    const auto absent = THROWN(lr::Error, recorder.load("nowhere"));
    CHECK(absent && absent->status() == REC_E_NOT_FOUND && absent->system_error() == 2);
    CHECK(absent && absent->file() == "nowhere.mpk" &&
          std::string(absent->what()).find("nowhere") != std::string::npos);
    THROWN(lr::Error, lr::Recorder("NoSuchRecorder"));
    THROWN(lr::Error, recorder.set("adapter", "nothing"));
    CHECK(recorder.option("sync") == "no" && recorder.copy().option("sync") == "no");
    THROWN(lr::Error, recorder.option("nothing"));
    THROWN(lr::Error, lr::Context("nowhere.ini"));
}

static void test_memory(const lr::Record &record)
{
    lr::Recorder recorder("NamedMpkBytes");
    const lr::Bytes bytes = recorder.save(record);
    CHECK(recorder.load(bytes)["linear.weight"].as<float>()[1] == 2.0F);
    std::vector<std::byte> owned(bytes.data(), bytes.data() + bytes.size());
    const lr::Record loaded = recorder.load(std::move(owned));
    CHECK(loaded["linear.weight"].as<float>()[1] == 2.0F);
    std::vector<std::byte> truncated(bytes.data(), bytes.data() + 9);
    const auto error = THROWN(lr::Error, recorder.load(std::move(truncated)));
    CHECK(error && error->status() == REC_E_FORMAT && error->offset() != REC_UNKNOWN);
}

static void test_callbacks()
{
    lr::Context context;
    int progress = 0, notes = 0;
    context.on_progress([&progress](const rec_progress &) { progress++; });
    context.on_note([&notes](const rec_note &) { notes++; });
    lr::Context moved = std::move(context);
    lr::Recorder recorder(moved, "NamedMpk", lr::Precision::Half);
    lr::Record record;
    record.set_tensor("w", std::vector<float>{1e30F}, {1});
    recorder.save(record, "large");
    const rec_note *note = rec_report_note(0);
    CHECK(progress > 0 && notes == 1 && rec_report_count() == 1 && note && note->kind == REC_NOTE_OVERFLOW);
    CHECK(note && std::string_view(note->path) == "w" && note->count == 1);

    moved.on_cancel([] { return true; });
    const auto cancelled = THROWN(lr::Error, recorder.load("large"));
    CHECK(cancelled && cancelled->status() == REC_E_CANCELLED);
    moved.on_cancel(nullptr);
    moved.on_progress([](const rec_progress &) { throw std::out_of_range("from a callback"); });
    const auto carried = THROWN(std::out_of_range, recorder.load("large"));
    CHECK(carried && std::string(carried->what()) == "from a callback");
    moved.on_progress(nullptr);
    CHECK(recorder.load("large")["w"].count() == 1);
    moved.on_note([](const rec_note &) { throw std::out_of_range("from a note"); });
    THROWN(std::out_of_range, recorder.save(record, "large"));
    { /* a recorder outlives its context, whose callbacks are no longer called */
        lr::Context gone = std::move(moved);
    }
    recorder.save(record, "large");
}

static void test_plans(const lr::Record &record)
{
    lr::Recorder from("NamedMpk"), to("Safetensors");
    from.set("rename", "^linear => dense");
    lr::Plan plan(to);
    plan.add(from, "made.mpk");
    bool renamed = false;
    for (const rec_plan_line *line : plan.lines()) {
        renamed = renamed || std::string_view(line->to) == "dense.weight";
    }
    CHECK(renamed);
    plan.save(to, "planned.safetensors");
    CHECK(to.load("planned")["dense.bias"].count() == 2);
    lr::Plan loaded;
    loaded.add(record, "(made)");
    CHECK(loaded.problems().empty() && loaded.load()["linear.weight"].as<float>()[3] == 4.0F);
    const lr::Context context;
    lr::Plan empty(context);
    THROWN(lr::Error, empty.lines());
    lr::Record other(context);
    THROWN(lr::Error, loaded.add(other, "another context"));
}

static void test_types(const char *tiny)
{
    lr::Recorder recorder("NamedMpk");
    const lr::Record record = recorder.load(tiny);
    std::FILE *file = std::fopen("model.rs", "w");
    std::fputs("#[derive(Module, Debug)]\npub struct Model<B: Backend> { linear: nn::Linear<B> }\n", file);
    std::fclose(file);
    lr::Types types;
    types.add("model.rs");
    lr::Recorder bin("BinFile");
    bin.type(types, "Model").save(record, "tiny");
    CHECK(bin.load("tiny.bin")["linear.weight"].count() == 6);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        return 2;
    }
    try {
        const lr::Record record = made();
        test_walk(record);
        test_tensors(record);
        test_values(record);
        test_files(record);
        test_memory(record);
        test_callbacks();
        test_plans(record);
        test_types(argv[1]);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return mistakes != 0;
}
