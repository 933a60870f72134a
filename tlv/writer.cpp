// SPDX-License-Identifier: Apache-2.0
#include "tlv/writer.hpp"

namespace lldp::tlv {
namespace {

constexpr std::size_t kEndTlv = 2;

}  // namespace

void LldpduWriter::append(std::span<std::uint8_t> tlv) {
  if (tlv.empty() || out_.size() - start_ + tlv.size() + kEndTlv > limit_) {
    ++left_out_;
    return;
  }
  const std::size_t length = tlv.size() - kHeader;
  tlv[0] = static_cast<std::uint8_t>(tlv[0] | length >> 8);
  tlv[1] = static_cast<std::uint8_t>(length);
  out_.insert(out_.end(), tlv.begin(), tlv.end());
}

void LldpduWriter::end() { out_.insert(out_.end(), kEndTlv, 0); }

}  // namespace lldp::tlv
