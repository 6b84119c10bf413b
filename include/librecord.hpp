/* SPDX-License-Identifier: MIT OR Apache-2.0
 * librecord.hpp: the C interface for C++17 and later. It needs no library of its own: programs link with librecord. */

/**
 * @file librecord.hpp
 *
 * - An owner can be moved but not copied, and frees its object. Its constructor takes the result of a C function:
 *   `Record copy(rec_record_copy(record.get()))`. get() returns the object for the other functions of librecord.h,
 *   which describes what each function does.
 * - check() throws Error if a C function fails: `check(rec_remove(record.get(), "step"))`.
 * - Tensor and Span borrow from their owner, as librecord.h says for the pointers they hold.
 * - If a callback of a Context throws, the operation ends and check() throws that exception.
 * - This header disables the short names (FULL) unless librecord.h is included first. Use REC_PRECISION_FULL.
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
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace librecord
{

/** The last error of the calling thread. what() returns the complete message. */
class Error : public std::runtime_error
{
  public:
    /** As the functions rec_error_status() to rec_error_hint() return them. */
    struct Parts {
        rec_status status = rec_error_status();
        std::uint64_t offset = rec_error_offset();
        std::uint32_t line = rec_error_line();
        std::int32_t system_error = rec_error_errno();
        std::string file = rec_error_file(), path = rec_error_path();
        std::string expected = rec_error_expected(), found = rec_error_found(), hint = rec_error_hint();
    };
    Error() : std::runtime_error(rec_error_message()) {}
    std::shared_ptr<const Parts> parts = std::make_shared<Parts>(); /* shared: copying an exception must not throw */
};

namespace detail
{

/** The first exception that a callback of the current operation threw. */
inline thread_local std::exception_ptr thrown;

/** @return a name or path for a C function. */
inline const char *text(const std::string &words)
{
    const bool ok = words.find('\0') == words.npos;
    return ok ? words.c_str() : throw std::invalid_argument("librecord: a name or path contains a NUL");
}

template <typename Range>
using Element = std::remove_cv_t<std::remove_pointer_t<decltype(std::data(std::declval<Range &>()))>>;

template <typename T> constexpr rec_dtype dtype_of()
{
    static_assert(std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_integral_v<T>);
    constexpr int smaller = sizeof(T) == 8 ? 0 : sizeof(T) == 4 ? 1 : sizeof(T) == 2 ? 2 : 3;
    constexpr rec_dtype integer = std::is_signed_v<T> ? REC_DTYPE_I64 : REC_DTYPE_U64;
    return std::is_same_v<T, bool> ? REC_DTYPE_BOOL : smaller + (std::is_integral_v<T> ? integer : REC_DTYPE_F64);
}

/** The functions for typed access. */
template <typename T> constexpr std::nullptr_t typed = nullptr;
template <> inline constexpr auto typed<float> = rec_tensor_f32;
template <> inline constexpr auto typed<double> = rec_tensor_f64;
template <> inline constexpr auto typed<std::int64_t> = rec_tensor_i64;
template <> inline constexpr auto typed<std::int32_t> = rec_tensor_i32;
template <> inline constexpr auto typed<std::uint16_t> = rec_tensor_f16;
template <> inline constexpr auto typed<std::uint8_t> = rec_tensor_bool;

} // namespace detail

/** Returns the result of a C function. Throws if it is NULL or a status other than REC_OK. */
template <typename T> T check(T result)
{
    static_assert(std::is_pointer_v<T> || std::is_same_v<T, rec_status>);
    if (detail::thrown) {
        std::rethrow_exception(std::exchange(detail::thrown, nullptr));
    }
    if (std::is_pointer_v<T> ? !result : result != T()) {
        throw Error();
    }
    return result;
}

/** Owns an object that the function Free frees. */
template <typename T, auto Free> class Owner
{
  public:
    /** Takes the object. NULL throws the error of the function that returned it. */
    explicit Owner(T *object) : object_(object) { check(object); }
    T *get() const noexcept { return object_.get(); }

  private:
    std::unique_ptr<T, std::integral_constant<decltype(Free), Free>> object_; /* the constant can be called */
};

using Plan = Owner<rec_plan, rec_plan_free>;
using Types = Owner<rec_types, rec_types_free>;

/** Borrowed elements. Converts to std::span. */
template <typename T> class Span
{
  public:
    constexpr Span() noexcept = default;
    constexpr Span(T *data, std::uint64_t size) noexcept : data_(data), size_(static_cast<std::size_t>(size)) {}
    template <typename Range,
              typename = std::enable_if_t<std::is_convertible_v<decltype(std::data(std::declval<Range &>())), T *>>>
    constexpr Span(Range &&range) noexcept : Span(std::data(range), std::size(range))
    {
    }
    constexpr T *data() const noexcept { return data_; }
    constexpr std::size_t size() const noexcept { return size_; }
    constexpr T &operator[](std::size_t index) const noexcept { return data_[index]; }
    constexpr T *begin() const noexcept { return data_; }
    constexpr T *end() const noexcept { return data_ + size_; }

  private:
    T *data_ = nullptr;
    std::size_t size_ = 0;
};

/** Configuration, plugins, limits, and a callback. */
class Context : public Owner<rec_context, rec_context_free>
{
  public:
    using Owner::Owner;
    using Progress = std::function<bool(const rec_progress &)>;
    Context() : Owner(rec_context_new(nullptr)) {}
    /** Sets the callback for progress, nullptr: none. It returns true to end the operation with REC_E_CANCELLED. */
    void on_progress(Progress callback)
    {
        progress_ = std::make_unique<Progress>(std::move(callback));
        rec_context_set_progress(get(), *progress_ ? call : nullptr, progress_.get());
    }

  private:
    static std::int32_t call(void *user, const rec_progress *now) noexcept
    {
        try {
            return (*static_cast<Progress *>(user))(*now);
        } catch (...) {
            detail::thrown = detail::thrown ? detail::thrown : std::current_exception();
            return 1;
        }
    }
    std::unique_ptr<Progress> progress_;
};

/** A tensor, borrowed from its record. */
class Tensor
{
  public:
    explicit Tensor(const rec_tensor *tensor) noexcept : tensor_(tensor) {}
    const rec_tensor *get() const noexcept { return tensor_; }
    Span<const std::uint64_t> shape() const noexcept { return {rec_tensor_shape(tensor_), rec_tensor_rank(tensor_)}; }
    /** @return the stored bytes, little-endian. */
    Span<const std::byte> bytes() const
    {
        std::uint64_t size = 0;
        return {static_cast<const std::byte *>(check(rec_tensor_bytes(tensor_, &size))), size};
    }
    /** @return the elements as float, double, int64_t or int32_t; uint8_t: bools; uint16_t: bit patterns of f16. */
    template <typename T> Span<const T> as() const
    {
        return {check(detail::typed<T>(tensor_)), rec_tensor_count(tensor_)};
    }
    /** Fills an array, vector or Span with the elements from `first` on, converted to its type. */
    template <typename Range> void read(std::uint64_t first, Range &&target) const
    {
        constexpr rec_dtype dtype = detail::dtype_of<detail::Element<Range>>();
        check(rec_tensor_read(tensor_, dtype, first, std::size(target), std::data(target)));
    }

  private:
    const rec_tensor *tensor_;
};

/** The tensors of a record in file order, with their paths, which it owns: a range of pairs. */
class Tensors : public Owner<const rec_table, rec_table_free>
{
  public:
    using Owner::Owner;
    using Entry = std::pair<std::string_view, Tensor>;
    class Iterator
    {
      public:
        using iterator_category = std::input_iterator_tag;
        using value_type = Entry;
        using difference_type = std::ptrdiff_t;
        using pointer = void;
        using reference = Entry;
        Iterator() noexcept = default;
        Iterator(const rec_table *table, std::uint64_t index) noexcept : table_(table), index_(index) {}
        Entry operator*() const noexcept { return {row().path, Tensor(row().tensor)}; }
        Iterator &operator++() noexcept { return index_++, *this; }
        Iterator operator++(int) noexcept { return {table_, index_++}; }
        bool operator==(const Iterator &other) const noexcept { return index_ == other.index_; }
        bool operator!=(const Iterator &other) const noexcept { return index_ != other.index_; }

      private:
        const rec_row &row() const noexcept
        {
            const void *rows = table_->rows, *row = static_cast<const char *>(rows) + index_ * table_->row_size;
            return *static_cast<const rec_row *>(row);
        }
        const rec_table *table_ = nullptr;
        std::uint64_t index_ = 0;
    };
    Iterator begin() const noexcept { return {get(), 0}; }
    Iterator end() const noexcept { return {get(), get()->count}; }
};

/** A loaded or built record. */
class Record : public Owner<rec_record, rec_record_free>
{
  public:
    using Owner::Owner;
    Record() : Owner(rec_record_new(nullptr)) {}
    /** @return a range for one loop: `for (auto [path, tensor] : record.tensors())`. */
    Tensors tensors() const & { return Tensors(rec_record_table(get())); }
    Tensors tensors() const && = delete; /* the loop would outlive the record */
    /** @return the tensor at a path. Throws if it is missing. */
    Tensor operator[](const std::string &path) const { return Tensor(check(rec_tensor_at(get(), detail::text(path)))); }
    /** Sets a tensor to a copy of an array, vector or Span. @param id "" makes one, nullptr: none. */
    template <typename Range>
    void set(const std::string &path, const Range &values, const std::vector<std::uint64_t> &shape, const char *id = "")
    {
        using T = detail::Element<const Range>;
        rec_tensor_spec spec = {};
        spec.size = sizeof spec;
        spec.dtype = detail::dtype_of<T>();
        spec.rank = static_cast<std::uint32_t>(shape.size());
        spec.shape = shape.data();
        spec.data = std::data(values);
        spec.data_size = std::size(values) * sizeof(T);
        spec.id = id;
        std::vector<T> swapped;
        if constexpr (sizeof(T) > 1 && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) {
            swapped.assign(std::data(values), std::data(values) + std::size(values));
            for (T &element : swapped) {
                char *bytes = static_cast<char *>(static_cast<void *>(&element));
                std::reverse(bytes, bytes + sizeof(T));
            }
            spec.data = swapped.data();
        }
        check(rec_set_tensor(get(), detail::text(path), &spec));
    }
};

/** A saved record in memory. */
class Bytes : public Owner<void, rec_free>, public Span<const std::byte>
{
  public:
    Bytes(void *data, std::uint64_t size) : Owner(data), Span(static_cast<const std::byte *>(data), size) {}
};

/** A format at a precision, with options. */
class Recorder : public Owner<rec_recorder, rec_close_recorder>
{
  public:
    using Owner::Owner;
    /** @param context nullptr: the default one. */
    explicit Recorder(const std::string &name, rec_precision precision = REC_PRECISION_FULL,
                      rec_context *context = nullptr)
        : Owner(rec_open_recorder_in(context, detail::text(name), precision))
    {
    }
    Record load(const std::string &path) { return Record(rec_load(get(), detail::text(path))); }
    /** Loads from memory, which must not change until the record and its copies are freed. */
    Record load(Span<const std::byte> bytes) { return Record(rec_load_bytes(get(), bytes.data(), bytes.size())); }
    /** Loads from memory that the record then owns. */
    Record load(std::vector<std::byte> &&bytes)
    {
        auto *owned = new std::vector<std::byte>(std::move(bytes));
        const auto release = [](void *user, const void *) { delete static_cast<std::vector<std::byte> *>(user); };
        return Record(rec_load_bytes_with(get(), owned->data(), owned->size(), release, owned));
    }
    void save(const Record &record, const std::string &path)
    {
        check(rec_save(get(), record.get(), detail::text(path)));
    }
    Bytes save(const Record &record)
    {
        void *data = nullptr;
        std::uint64_t size = 0;
        (void)rec_save_bytes(get(), record.get(), &data, &size); /* data stays NULL if it fails */
        return Bytes(data, size);
    }
};

} // namespace librecord

#endif
