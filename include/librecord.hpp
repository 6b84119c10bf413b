/* SPDX-License-Identifier: MIT OR Apache-2.0
 * librecord.hpp: the C interface for C++17 and later. It needs no library of its own: programs link with librecord. */

/**
 * @file librecord.hpp
 *
 * - An owner (Context, Recorder, Record, Plan, …) can be moved but not copied, and frees its object. get() returns the
 *   object for the functions of librecord.h, which describes what each function does and has the constants.
 * - A function that fails throws Error. A name or path with a NUL inside throws std::invalid_argument.
 * - Tensor, Value, Span and std::string_view borrow from their owner, as librecord.h says for the pointers they hold.
 * - Callbacks belong to a Context. If one throws, the operation ends and throws that exception.
 * - This header disables the short names (FULL) unless librecord.h is included first. Use Precision.
 */
#ifndef LIBRECORD_HPP
#define LIBRECORD_HPP

#if !defined LIBRECORD_H && !defined REC_NO_SHORT_NAMES
#define REC_NO_SHORT_NAMES
#endif
#include <librecord.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace librecord
{

using Path = std::filesystem::path;

/** The last error of the calling thread. what() returns the complete message. */
class Error : public std::runtime_error
{
  public:
    Error() : std::runtime_error(rec_error_message()), parts_(std::make_shared<Parts>()) {}
    rec_status status() const noexcept { return parts_->status; }
    /** @return the byte offset in the (decompressed) file, or REC_UNKNOWN. */
    std::uint64_t offset() const noexcept { return parts_->offset; }
    std::uint32_t line() const noexcept { return parts_->line; }
    int system_error() const noexcept { return parts_->system_error; } /**< an errno, or 0 */
    const std::string &file() const noexcept { return parts_->file; }
    const std::string &path() const noexcept { return parts_->path; }
    const std::string &expected() const noexcept { return parts_->expected; }
    const std::string &found() const noexcept { return parts_->found; }
    const std::string &hint() const noexcept { return parts_->hint; }

  private:
    struct Parts {
        rec_status status = rec_error_status();
        std::uint64_t offset = rec_error_offset();
        std::uint32_t line = rec_error_line();
        int system_error = rec_error_errno();
        std::string file = rec_error_file(), path = rec_error_path();
        std::string expected = rec_error_expected(), found = rec_error_found(), hint = rec_error_hint();
    };
    std::shared_ptr<const Parts> parts_; /* shared, because copying an exception must not throw */
};

namespace detail
{

/** The first exception that a callback of the current operation threw. */
inline thread_local std::exception_ptr thrown;

/** Ends an operation: throws what a callback threw, or the error. */
inline void finish(bool ok)
{
    if (thrown) {
        std::rethrow_exception(std::exchange(thrown, nullptr));
    }
    if (!ok) {
        throw Error();
    }
}

/** Runs a callback. @return false if a callback of this operation threw. */
template <typename Call> bool carry(Call call) noexcept
{
    try {
        call();
    } catch (...) {
        thrown = thrown ? thrown : std::current_exception();
    }
    return !thrown;
}

/** @return a NUL-terminated copy. */
inline std::string text(std::string_view words)
{
    if (words.find('\0') != words.npos) {
        throw std::invalid_argument("librecord: a name or path contains a NUL");
    }
    return std::string(words);
}

template <auto Free> struct Deleter {
    template <typename T> void operator()(T *object) const noexcept { Free(object); }
};

template <typename T, auto Free> class Owner
{
  public:
    T *get() const noexcept { return object_.get(); }

  protected:
    explicit Owner(T *object) : object_(object) { finish(object != nullptr); }

  private:
    std::unique_ptr<T, Deleter<Free>> object_;
};

template <typename T> constexpr rec_dtype dtype_of()
{
    static_assert(std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_integral_v<T>);
    if constexpr (std::is_floating_point_v<T>) {
        return std::is_same_v<T, double> ? REC_DTYPE_F64 : REC_DTYPE_F32;
    } else if constexpr (std::is_same_v<T, bool>) {
        return REC_DTYPE_BOOL;
    } else {
        constexpr int smaller = sizeof(T) == 8 ? 0 : sizeof(T) == 4 ? 1 : sizeof(T) == 2 ? 2 : 3;
        return (std::is_signed_v<T> ? REC_DTYPE_I64 : REC_DTYPE_U64) + smaller;
    }
}

template <typename Range>
using Element = std::remove_cv_t<std::remove_pointer_t<decltype(std::data(std::declval<Range &>()))>>;

} // namespace detail

/** Throws Error unless the status is REC_OK: `check(rec_context_set_threads(context.get(), 2))`. */
inline void check(rec_status status)
{
    detail::finish(status == REC_OK);
}

namespace detail
{

struct Callbacks {
    std::function<void(const rec_progress &)> progress;
    std::function<bool()> cancel;
    std::function<void(const rec_note &)> note;
};

inline std::int32_t on_progress(void *user, const rec_progress *progress)
{
    const auto &callbacks = *static_cast<const Callbacks *>(user);
    bool stop = false;
    const bool went = carry([&] {
        if (callbacks.progress) {
            callbacks.progress(*progress);
        }
        stop = callbacks.cancel && callbacks.cancel();
    });
    return stop || !went;
}

inline void on_note(void *user, const rec_note *note)
{
    const auto &callbacks = *static_cast<const Callbacks *>(user);
    (void)carry([&] { callbacks.note(*note); });
}

struct CallbackOwner {
    std::unique_ptr<Callbacks> callbacks = std::make_unique<Callbacks>();
};

} // namespace detail

/** Configuration, plugins, limits and callbacks. The callbacks must not change while an operation runs. */
class Context : private detail::CallbackOwner, public detail::Owner<rec_context, rec_context_free>
{
  public:
    /** Without a configuration file. */
    Context() : Owner(rec_context_new(nullptr)) {}
    /** With this INI file. */
    explicit Context(const Path &ini) : Owner(rec_config_open(detail::text(ini.native()).c_str())) {}
    void on_progress(std::function<void(const rec_progress &)> callback)
    {
        callbacks->progress = std::move(callback);
        watch();
    }
    /** @param callback called with each progress; true: the operation ends with REC_E_CANCELLED. */
    void on_cancel(std::function<bool()> callback)
    {
        callbacks->cancel = std::move(callback);
        watch();
    }
    void on_note(std::function<void(const rec_note &)> callback)
    {
        callbacks->note = std::move(callback);
        rec_context_set_notes(get(), callbacks->note ? detail::on_note : nullptr, callbacks.get());
    }

  private:
    void watch()
    {
        const bool any = callbacks->progress || callbacks->cancel;
        rec_context_set_progress(get(), any ? detail::on_progress : nullptr, callbacks.get());
    }
};

/** Borrowed elements. Converts to std::span. */
template <typename T> class Span
{
  public:
    constexpr Span() noexcept = default;
    constexpr Span(T *data, std::size_t size) noexcept : data_(data), size_(size) {}
    template <typename Range,
              typename = std::enable_if_t<std::is_convertible_v<decltype(std::data(std::declval<Range &>())), T *>>>
    constexpr Span(Range &&range) noexcept : Span(std::data(range), std::size(range))
    {
    }
    constexpr T *data() const noexcept { return data_; }
    constexpr std::size_t size() const noexcept { return size_; }
    constexpr bool empty() const noexcept { return size_ == 0; }
    constexpr T &operator[](std::size_t index) const noexcept { return data_[index]; }
    constexpr T *begin() const noexcept { return data_; }
    constexpr T *end() const noexcept { return data_ + size_; }

  private:
    T *data_ = nullptr;
    std::size_t size_ = 0;
};

/** A tensor, borrowed from its record. */
class Tensor
{
  public:
    explicit Tensor(const rec_tensor *tensor) noexcept : tensor_(tensor) {}
    const rec_tensor *get() const noexcept { return tensor_; }
    rec_dtype dtype() const noexcept { return rec_tensor_dtype(tensor_); }
    std::string_view dtype_name() const noexcept { return rec_tensor_dtype_name(tensor_); }
    std::uint64_t count() const noexcept { return rec_tensor_count(tensor_); }
    Span<const std::uint64_t> shape() const noexcept { return {rec_tensor_shape(tensor_), rec_tensor_rank(tensor_)}; }
    /** @return the parameter id, or "". */
    std::string_view id() const noexcept { return rec_tensor_id(tensor_) ? rec_tensor_id(tensor_) : ""; }
    /** @return the stored bytes, little-endian. */
    Span<const std::byte> bytes() const
    {
        std::uint64_t size = 0;
        const void *bytes = rec_tensor_bytes(tensor_, &size);
        detail::finish(bytes != nullptr);
        return {static_cast<const std::byte *>(bytes), static_cast<std::size_t>(size)};
    }
    /** @return the elements as float, double, int64_t or int32_t; uint8_t: bools; uint16_t: bit patterns of f16. */
    template <typename T> Span<const T> as() const
    {
        const T *elements = typed(static_cast<T *>(nullptr));
        detail::finish(elements != nullptr);
        return {elements, static_cast<std::size_t>(count())};
    }
    /** Fills an array, vector or Span with the elements from `first` on, converted to its type. */
    template <typename Range> void read(std::uint64_t first, Range &&target) const
    {
        constexpr rec_dtype dtype = detail::dtype_of<detail::Element<Range>>();
        check(rec_tensor_read(tensor_, dtype, first, std::size(target), std::data(target)));
    }

  private:
    const float *typed(float *) const { return rec_tensor_f32(tensor_); }
    const double *typed(double *) const { return rec_tensor_f64(tensor_); }
    const std::int64_t *typed(std::int64_t *) const { return rec_tensor_i64(tensor_); }
    const std::int32_t *typed(std::int32_t *) const { return rec_tensor_i32(tensor_); }
    const std::uint16_t *typed(std::uint16_t *) const { return rec_tensor_f16(tensor_); }
    const std::uint8_t *typed(std::uint8_t *) const { return rec_tensor_bool(tensor_); }
    const rec_tensor *tensor_;
};

/** Nil, a number or a text. */
using Scalar = std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string_view>;

inline Scalar scalar_of(const rec_scalar &scalar)
{
    switch (scalar.kind) {
    case REC_KIND_BOOL:
        return scalar.v.i != 0;
    case REC_KIND_INT:
        return scalar.v.i;
    case REC_KIND_UINT:
        return scalar.v.u;
    case REC_KIND_FLOAT:
        return scalar.v.f;
    case REC_KIND_STRING:
        return std::string_view(scalar.text, static_cast<std::size_t>(scalar.v.length));
    default:
        return std::monostate();
    }
}

/** A value in a record's tree, borrowed from it. */
class Value
{
  public:
    explicit Value(const rec_value *value) noexcept : value_(value) {}
    const rec_value *get() const noexcept { return value_; }
    explicit operator bool() const noexcept { return value_ != nullptr; }
    std::int32_t kind() const noexcept { return rec_value_kind(value_); }
    std::uint64_t count() const noexcept { return rec_value_count(value_); }
    Scalar scalar() const { return scalar_of(rec_value_scalar(value_)); }
    Scalar key(std::uint64_t index) const { return scalar_of(rec_value_key(value_, index)); }
    Scalar number(std::uint64_t index) const { return scalar_of(rec_value_number(value_, index)); }
    Value item(std::uint64_t index) const noexcept { return Value(rec_value_item(value_, index)); }
    Value child(std::string_view name) const { return Value(rec_value_child(value_, detail::text(name).c_str())); }

  private:
    const rec_value *value_;
};

/** A record. `for (auto [path, tensor] : record)` visits its tensors in file order. */
class Record : public detail::Owner<rec_record, rec_record_free>
{
  public:
    struct Entry {
        std::string_view path; /**< valid as long as an iterator of the loop */
        Tensor tensor;
    };
    class Iterator
    {
      public:
        using iterator_category = std::input_iterator_tag;
        using value_type = Entry;
        using difference_type = std::ptrdiff_t;
        using pointer = void;
        using reference = Entry;
        Iterator() noexcept = default;
        explicit Iterator(const rec_record *record) : table_(rec_record_table(record), rec_table_free)
        {
            detail::finish(table_ != nullptr);
        }
        Entry operator*() const
        {
            return {{row().path, static_cast<std::size_t>(row().path_length)}, Tensor(row().tensor)};
        }
        /** @return all that the library knows about the tensor. */
        const rec_row &row() const
        {
            const char *rows = static_cast<const char *>(static_cast<const void *>(table_->rows));
            return *static_cast<const rec_row *>(static_cast<const void *>(rows + index_ * table_->row_size));
        }
        Iterator &operator++()
        {
            index_++;
            return *this;
        }
        Iterator operator++(int)
        {
            Iterator old = *this;
            index_++;
            return old;
        }
        bool operator==(const Iterator &other) const noexcept
        {
            return ended() == other.ended() && (ended() || index_ == other.index_);
        }
        bool operator!=(const Iterator &other) const noexcept { return !(*this == other); }

      private:
        bool ended() const noexcept { return !table_ || index_ == table_->count; }
        std::shared_ptr<const rec_table> table_;
        std::size_t index_ = 0;
    };

    Record() : Owner(rec_record_new(nullptr)) {}
    explicit Record(const Context &context) : Owner(rec_record_new(context.get())) {}
    /** Takes a record of the C interface. NULL throws its error. */
    explicit Record(rec_record *record) : Owner(record) {}
    Record copy() const { return Record(rec_record_copy(get())); }

    Iterator begin() const { return Iterator(get()); }
    Iterator end() const noexcept { return {}; }
    /** @return the tensor at a path. Throws if it is missing. */
    Tensor operator[](std::string_view path) const
    {
        const rec_tensor *tensor = rec_tensor_at(get(), detail::text(path).c_str());
        detail::finish(tensor != nullptr);
        return Tensor(tensor);
    }
    /** @return the value at a path; false if it is missing. */
    Value at(std::string_view path) const { return Value(rec_value_at(get(), detail::text(path).c_str())); }
    const rec_origin &origin() const noexcept { return *rec_record_origin(get()); }
    std::optional<std::string_view> metadata(std::string_view key) const
    {
        const std::string name = detail::text(key);
        if (!rec_metadata_value(get(), name.c_str())) {
            return std::nullopt;
        }
        const char *value = rec_metadata(get(), name.c_str());
        detail::finish(value != nullptr);
        return value;
    }

    /** Sets a bool, a number, a text, nullptr (nil) or a copy of a Value. */
    template <typename T> void set(std::string_view path, const T &value)
    {
        const std::string place = detail::text(path);
        if constexpr (std::is_same_v<T, Value>) {
            check(rec_set_value(get(), place.c_str(), value.get()));
        } else if constexpr (std::is_same_v<T, std::nullptr_t>) {
            check(rec_set_nil(get(), place.c_str()));
        } else if constexpr (std::is_same_v<T, bool>) {
            check(rec_set_bool(get(), place.c_str(), value));
        } else if constexpr (std::is_floating_point_v<T>) {
            check(rec_set_float(get(), place.c_str(), value));
        } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
            check(rec_set_int(get(), place.c_str(), value));
        } else if constexpr (std::is_integral_v<T>) {
            check(rec_set_uint(get(), place.c_str(), value));
        } else {
            const std::string_view words = value;
            rec_scalar scalar = {REC_KIND_STRING, 0, 0, {0}, words.data()};
            scalar.v.length = words.size();
            check(rec_set_scalar(get(), place.c_str(), scalar));
        }
    }
    /** Sets a tensor to a copy of an array, vector or Span. @param id "" makes one, nullopt: none. */
    template <typename Range>
    void set_tensor(std::string_view path, const Range &values, const std::vector<std::uint64_t> &shape,
                    std::optional<std::string_view> id = "")
    {
        using T = detail::Element<const Range>;
        const std::string place = detail::text(path), name = detail::text(id.value_or(""));
        rec_tensor_spec spec = {};
        spec.size = sizeof spec;
        spec.dtype = detail::dtype_of<T>();
        spec.rank = static_cast<std::uint32_t>(shape.size());
        spec.shape = shape.data();
        spec.data = std::data(values);
        spec.data_size = std::size(values) * sizeof(T);
        spec.id = id ? name.c_str() : nullptr;
        std::vector<char> swapped;
        if constexpr (sizeof(T) > 1 && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) {
            swapped.resize(std::size(values) * sizeof(T));
            std::memcpy(swapped.data(), spec.data, swapped.size());
            for (char *element = swapped.data(); element != swapped.data() + swapped.size(); element += sizeof(T)) {
                std::reverse(element, element + sizeof(T));
            }
            spec.data = swapped.data();
        }
        check(rec_set_tensor(get(), place.c_str(), &spec));
    }
    void remove(std::string_view path) { check(rec_remove(get(), detail::text(path).c_str())); }
};

/** Type definitions: Rust source, INI files, and Burn's own types. */
class Types : public detail::Owner<rec_types, rec_types_free>
{
  public:
    Types() : Owner(rec_types_new(nullptr)) {}
    explicit Types(const Context &context) : Owner(rec_types_new(context.get())) {}
    void add(const Path &file) { check(rec_types_add_file(get(), detail::text(file.native()).c_str())); }
};

/** A saved record in memory. */
class Bytes : public detail::Owner<void, rec_free>
{
  public:
    Bytes(void *data, std::uint64_t size) : Owner(data), size_(static_cast<std::size_t>(size)) {}
    const std::byte *data() const noexcept { return static_cast<const std::byte *>(get()); }
    std::size_t size() const noexcept { return size_; }

  private:
    std::size_t size_;
};

enum class Precision : rec_precision {
    Default = REC_PRECISION_DEFAULT,
    Keep = REC_PRECISION_KEEP,
    Double = REC_PRECISION_DOUBLE,
    Full = REC_PRECISION_FULL,
    Half = REC_PRECISION_HALF,
    Configured = REC_PRECISION_CONFIGURED
};

/** A format at a precision, with options. */
class Recorder : public detail::Owner<rec_recorder, rec_close_recorder>
{
  public:
    explicit Recorder(std::string_view name, Precision precision = Precision::Full)
        : Owner(open(nullptr, name, precision))
    {
    }
    Recorder(const Context &context, std::string_view name, Precision precision = Precision::Full)
        : Owner(open(context.get(), name, precision))
    {
    }
    /** Takes a recorder of the C interface. NULL throws its error. */
    explicit Recorder(rec_recorder *recorder) : Owner(recorder) {}
    Recorder copy() const { return Recorder(rec_recorder_copy(get())); }
    /** @return the value of an option or load argument, valid until one is set. */
    std::string_view option(std::string_view name) const
    {
        const char *value = rec_recorder_get(get(), detail::text(name).c_str());
        detail::finish(value != nullptr);
        return value;
    }
    Recorder &set(std::string_view option, std::string_view value)
    {
        check(rec_recorder_set(get(), detail::text(option).c_str(), detail::text(value).c_str()));
        return *this;
    }
    /** Sets the type of the records, an expression in Rust's grammar: "Model", "Adam". */
    Recorder &type(const Types &types, std::string_view expression)
    {
        check(rec_recorder_set_type_name(get(), types.get(), detail::text(expression).c_str()));
        return *this;
    }
    Record load(const Path &path) { return Record(rec_load(get(), detail::text(path.native()).c_str())); }
    /** Loads from memory, which must not change until the record and its copies are freed. */
    Record load(Span<const std::byte> bytes) { return Record(rec_load_bytes(get(), bytes.data(), bytes.size())); }
    /** Loads from memory that the record then owns. */
    Record load(std::vector<std::byte> &&bytes)
    {
        auto *owned = new std::vector<std::byte>(std::move(bytes));
        const auto release = [](void *user, const void *) { delete static_cast<std::vector<std::byte> *>(user); };
        return Record(rec_load_bytes_with(get(), owned->data(), owned->size(), release, owned));
    }
    void save(const Record &record, const Path &path)
    {
        check(rec_save(get(), record.get(), detail::text(path.native()).c_str()));
    }
    Bytes save(const Record &record)
    {
        void *data = nullptr;
        std::uint64_t size = 0;
        check(rec_save_bytes(get(), record.get(), &data, &size));
        return Bytes(data, size);
    }

  private:
    static rec_recorder *open(rec_context *context, std::string_view name, Precision precision)
    {
        return rec_open_recorder_in(context, detail::text(name).c_str(), static_cast<rec_precision>(precision));
    }
};

/** What happens to each tensor between sources and a destination. */
class Plan : public detail::Owner<rec_plan, rec_plan_free>
{
  public:
    /** For load(). */
    Plan() : Owner(rec_plan_new(nullptr, nullptr)) {}
    explicit Plan(const Context &context) : Owner(rec_plan_new(context.get(), nullptr)) {}
    /** For save() with this recorder. */
    explicit Plan(const Recorder &to) : Owner(rec_plan_new(nullptr, to.get())) {}
    void add(Recorder &from, const Path &path)
    {
        check(rec_plan_add(get(), from.get(), detail::text(path.native()).c_str()));
    }
    /** Adds a record, which must outlive the plan and the records loaded from it. */
    void add(const Record &record, std::string_view name)
    {
        check(rec_plan_add_record(get(), nullptr, record.get(), detail::text(name).c_str()));
    }
    std::vector<const rec_plan_line *> lines() { return all(rec_plan_count, rec_plan_get); }
    std::vector<const rec_plan_problem *> problems() { return all(rec_plan_problem_count, rec_plan_problem_get); }
    Record load() { return Record(rec_plan_load(get())); }
    void save(Recorder &to, const Path &path)
    {
        check(rec_convert(nullptr, nullptr, to.get(), detail::text(path.native()).c_str(), get()));
    }

  private:
    template <typename T>
    std::vector<const T *> all(std::uint64_t (*count)(rec_plan *), const T *(*item)(rec_plan *, std::uint64_t))
    {
        check(rec_plan_make(get()));
        std::vector<const T *> items(static_cast<std::size_t>(count(get())));
        for (std::size_t index = 0; index < items.size(); index++) {
            items[index] = item(get(), index);
            detail::finish(items[index] != nullptr);
        }
        return items;
    }
};

/** Loads `in` and saves it as `out`, tensor by tensor. */
inline void convert(Recorder &from, const Path &in, Recorder &to, const Path &out)
{
    check(rec_convert(from.get(), detail::text(in.native()).c_str(), to.get(), detail::text(out.native()).c_str(),
                      nullptr));
}

} // namespace librecord

#endif
