// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

namespace lldp {

/// A value that is T{} nearly always, of something of which there may be very many: it takes a
/// pointer's room then.
template <class T>
class Rare {
 public:
  Rare() = default;
  Rare(T value)  // NOLINT(google-explicit-constructor): it is that value
      : value_(value == T{} ? nullptr : std::make_unique<T>(std::move(value))) {}
  Rare(const Rare& other) : value_(other.value_ ? std::make_unique<T>(*other.value_) : nullptr) {}
  Rare(Rare&&) noexcept = default;
  Rare& operator=(const Rare& other) { return *this = Rare(other); }
  Rare& operator=(Rare&&) noexcept = default;
  ~Rare() = default;

  [[nodiscard]] const T& operator*() const {
    static const T kUsual{};
    return value_ ? *value_ : kUsual;
  }
  [[nodiscard]] const T* operator->() const { return &**this; }
  /// For the caller to change.
  [[nodiscard]] T& alter() {
    if (!value_) value_ = std::make_unique<T>();
    return *value_;
  }
  friend bool operator==(const Rare& a, const Rare& b) {
    return (!a.value_ && !b.value_) || *a == *b;
  }

 private:
  std::unique_ptr<T> value_{};
};

}  // namespace lldp
