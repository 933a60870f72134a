// SPDX-License-Identifier: Apache-2.0
#include "tlv/writer.hpp"

namespace lldp::tlv {
namespace {

constexpr std::size_t kHeader = 2;
constexpr std::size_t kEndTlv = 2;

}  // namespace

std::size_t LldpduWriter::begin(const Key& key) {
  const std::size_t start = out_.size();
  out_.push_back(static_cast<std::uint8_t>(key.type << 1));
  out_.push_back(0);  // the length, when it is known
  if (key.type == kOrganizational) {
    Writer(out_).field({}, key.oui, 24).field({}, key.subtype, 8);
  }
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
