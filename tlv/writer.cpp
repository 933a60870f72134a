// SPDX-License-Identifier: Apache-2.0
#include "tlv/writer.hpp"

#include <array>

namespace lldp::tlv {
namespace {

constexpr std::size_t kHeader = 2;
constexpr std::size_t kEndTlv = 2;

}  // namespace

std::size_t LldpduWriter::begin(const Key& key) {
  const std::size_t start = out_.size();
  const std::array header{
      static_cast<std::uint8_t>(key.type << 1), std::uint8_t{},  // the length, when it is known
      static_cast<std::uint8_t>(key.oui >> 16), static_cast<std::uint8_t>(key.oui >> 8),
      static_cast<std::uint8_t>(key.oui),       key.subtype};
  const std::size_t octets = key.type == kOrganizational ? header.size() : kHeader;
  out_.insert(out_.end(), header.begin(), header.begin() + octets);
  return start;
}

void LldpduWriter::finish(std::size_t start, bool ok) {
  const std::size_t length = out_.size() - start - kHeader;
  if (!ok || length > kMaxInformation || out_.size() - start_ + kEndTlv > limit_) {
    out_.resize(start);
    ++left_out_;
    return;
  }
  out_[start] = static_cast<std::uint8_t>(out_[start] | length >> 8);
  out_[start + 1] = static_cast<std::uint8_t>(length);
}

void LldpduWriter::end() { out_.insert(out_.end(), kEndTlv, 0); }

}  // namespace lldp::tlv
