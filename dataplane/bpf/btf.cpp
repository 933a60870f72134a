// SPDX-License-Identifier: Apache-2.0
#include "dataplane/bpf/btf.hpp"

#include <linux/btf.h>

#include <cstddef>
#include <cstring>
#include <string>

#include "base/text.hpp"

namespace lldp::dataplane::bpf {
namespace {

constexpr std::uint32_t kEnum64 = 19;  ///< Linux 6.0; older headers lack it

template <class T>
std::optional<T> at(ByteSpan octets, std::size_t offset) {
  if (offset > octets.size() || sizeof(T) > octets.size() - offset) return std::nullopt;
  T value{};
  std::memcpy(&value, octets.data() + offset, sizeof value);
  return value;
}

/// Octets behind a type's head; nothing: a kind that is not known.
std::optional<std::size_t> behind_head(const btf_type& type) {
  const std::size_t members = BTF_INFO_VLEN(type.info);
  switch (BTF_INFO_KIND(type.info)) {
    case BTF_KIND_INT:
    case BTF_KIND_VAR:
    case BTF_KIND_DECL_TAG:
      return sizeof(std::uint32_t);
    case BTF_KIND_ARRAY:
      return sizeof(btf_array);
    case BTF_KIND_STRUCT:
    case BTF_KIND_UNION:
      return members * sizeof(btf_member);
    case BTF_KIND_ENUM:
      return members * sizeof(btf_enum);
    case BTF_KIND_FUNC_PROTO:
      return members * sizeof(btf_param);
    case BTF_KIND_DATASEC:
      return members * sizeof(btf_var_secinfo);
    case kEnum64:
      return members * 3 * sizeof(std::uint32_t);
    case BTF_KIND_PTR:
    case BTF_KIND_FWD:
    case BTF_KIND_TYPEDEF:
    case BTF_KIND_VOLATILE:
    case BTF_KIND_CONST:
    case BTF_KIND_RESTRICT:
    case BTF_KIND_FUNC:
    case BTF_KIND_FLOAT:
    case BTF_KIND_TYPE_TAG:
      return 0;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<std::uint32_t> function_in_btf(ByteSpan btf, std::string_view name) {
  const auto header = at<btf_header>(btf, 0);
  if (!header || header->magic != BTF_MAGIC) return std::nullopt;
  const auto part = [&](std::uint32_t offset, std::uint32_t size) {
    const std::size_t from = std::size_t{header->hdr_len} + offset;
    return from > btf.size() || size > btf.size() - from ? ByteSpan() : btf.subspan(from, size);
  };
  const ByteSpan types = part(header->type_off, header->type_len);
  const std::string_view strings = as_text(part(header->str_off, header->str_len));
  // One string can be the end of another, so the name can stand at several offsets.
  const std::string whole = std::string(name) + '\0';
  std::uint32_t id = 0;
  for (std::size_t offset = 0;;) {
    const auto type = at<btf_type>(types, offset);
    if (!type) return std::nullopt;
    ++id;
    if (BTF_INFO_KIND(type->info) == BTF_KIND_FUNC && type->name_off < strings.size() &&
        strings.substr(type->name_off).starts_with(whole))
      return id;
    const auto more = behind_head(*type);
    if (!more) return std::nullopt;
    offset += sizeof(btf_type) + *more;
  }
}

}  // namespace lldp::dataplane::bpf
