// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>

#include <initializer_list>

namespace lldp {

/// A shared library that is loaded when it is needed, with the functions that are taken from it. It
/// stays loaded if it has all of them: one that is too old may be replaced while we run.
class SharedLibrary {
 public:
  /// Loads the first of these names that the loader finds.
  explicit SharedLibrary(std::initializer_list<const char*> names) {
    for (const char* name : names)
      if (handle_ == nullptr) handle_ = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  ~SharedLibrary() {
    if (missing_ != nullptr) ::dlclose(handle_);
  }
  SharedLibrary(const SharedLibrary&) = delete;
  SharedLibrary& operator=(const SharedLibrary&) = delete;
  [[nodiscard]] bool is_loaded() const { return handle_ != nullptr; }

  /// Sets `function` to the one of this name, or to null.
  template <class F>
  void find(F*& function, const char* name) {
    function = reinterpret_cast<F*>(::dlsym(handle_, name));
    if (function == nullptr) missing_ = name;
  }
  /// The last name that find() did not find; null: none.
  [[nodiscard]] const char* missing() const { return missing_; }

 private:
  void* handle_ = nullptr;
  const char* missing_ = nullptr;
};

}  // namespace lldp
