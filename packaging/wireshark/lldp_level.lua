-- SPDX-License-Identifier: Apache-2.0
-- The LLDP TLVs that carry a device's level in a fabric, lldp-level-tlv(7): Topology Recognition
-- (IEEE 802.1Qcz-2023 D.2.16, 00-80-C2 subtype 0x14) and the Contribution TLV (an OUI of the operator's,
-- subtype 0x01); where their sender stands (that OUI, subtype 0x02); what a link joins in a layered expander (that OUI,
-- subtype 0x03); what its sender has acknowledged of the order (that OUI, subtype 0x04); and which classes are lossless (that
-- OUI, subtype 0x05).
--
-- Wireshark's own dissector knows the name of the first and does not decode it, and offers no table by
-- which another could (its lldp.orgtlv.oui is asked for OUIs that it does not know alone). So this is a
-- post-dissector for all: it goes by the organizational TLVs that were found, wherever the frame
-- begins. It shows up in the tree as `lldp_level`; filter by lldp_level.tr.level == 2.

local lldp_level = Proto("lldp_level", "LLDP level in the fabric")

-- Each TLV has its own numbers; they share one meaning, and no table.
local tr = {
  name = "Topology Recognition",
  device = {[0] = "end station", [1] = "bridge", [2] = "router", [255] = "unknown"},
  port = {[0] = "uplink", [1] = "downlink", [2] = "crosslink", [255] = "unknown"},
}
local contribution = {
  name = "Contribution",
  device = {[0] = "host", [1] = "switch"},
  port = {[0] = "unmarked", [1] = "uplink", [2] = "downlink"},
}

lldp_level.fields = {}
for key, tlv in pairs({tr = tr, contribution = contribution}) do
  local function field(name, label, values)
    local made = ProtoField.uint8("lldp_level." .. key .. "." .. name, label, base.DEC, values)
    table.insert(lldp_level.fields, made)
    return made
  end
  tlv.fields = {
    device = field("device_type", "Device Type", tlv.device),
    level = field("level", "Level"),
    port = field("port", "Port", tlv.port),
  }
end

local layers = {
  name = "Layers",
  near = ProtoField.uint8("lldp_level.layers.near", "Near Layer"),
  far = ProtoField.uint8("lldp_level.layers.far", "Far Layer"),
}
table.insert(lldp_level.fields, layers.near)
table.insert(lldp_level.fields, layers.far)

local location = {
  name = "Location",
  level = ProtoField.uint8("lldp_level.location.level", "Tier"),
  subtype = ProtoField.uint8("lldp_level.location.subtype", "Chassis ID Subtype"),
  id = ProtoField.bytes("lldp_level.location.id", "ID"),
  age = ProtoField.uint32("lldp_level.location.age", "Age (minutes)"),
}
for _, field in ipairs({location.level, location.subtype, location.id, location.age}) do table.insert(lldp_level.fields, field) end

local classes = {
  name = "Lossless Classes",
  chain = ProtoField.uint8("lldp_level.classes.chain", "Chain"),
  step = ProtoField.uint8("lldp_level.classes.step", "Step"),
  priority = ProtoField.uint8("lldp_level.classes.priority", "Priority"),
  dscp = ProtoField.uint8("lldp_level.classes.dscp", "DSCP"),
  hops = ProtoField.uint8("lldp_level.classes.hops", "Hops", base.DEC, {[255] = "no evidence"}),
  dscps = ProtoField.uint64("lldp_level.classes.dscps", "DSCPs", base.HEX),
}
for _, field in ipairs({classes.chain, classes.step, classes.priority, classes.dscp, classes.hops, classes.dscps}) do
  table.insert(lldp_level.fields, field)
end

local order = {
  name = "Order",
  host = ProtoField.bool("lldp_level.order.host", "Host", 8, nil, 0x01),
  more = ProtoField.bool("lldp_level.order.more", "More Neighbors Than Entries", 8, nil, 0x02),
  agent = ProtoField.uint64("lldp_level.order.agent_id", "Agent ID", base.HEX),
  boot = ProtoField.uint32("lldp_level.order.boot", "Boot"),
  session = ProtoField.uint32("lldp_level.order.session", "Session", base.HEX),
  sequence = ProtoField.uint32("lldp_level.order.sequence", "Sequence Number"),
  level = ProtoField.uint8("lldp_level.order.level", "Level of the Bound", base.DEC, {[255] = "none"}),
  id = ProtoField.bytes("lldp_level.order.rank_id", "Rank ID of the Bound"),
  neighbor = ProtoField.uint64("lldp_level.order.neighbor.agent_id", "Agent ID", base.HEX),
  neighbor_boot = ProtoField.uint32("lldp_level.order.neighbor.boot", "Boot"),
  neighbor_session = ProtoField.uint32("lldp_level.order.neighbor.session", "Session", base.HEX),
  acknowledged = ProtoField.uint32("lldp_level.order.neighbor.acknowledged", "Acknowledged", base.DEC, {[0] = "none"}),
  waits = ProtoField.bool("lldp_level.order.neighbor.waits", "Its Acknowledgement Is Missing", 8, nil, 0x01),
}
for _, key in ipairs({"host", "more", "agent", "boot", "session", "sequence", "level", "id", "neighbor", "neighbor_boot",
    "neighbor_session", "acknowledged", "waits"}) do
  table.insert(lldp_level.fields, order[key])
end

local wrong_order = ProtoExpert.new("lldp_level.wrong_order",
  "No bound and list of at most 22 neighbors: it is discarded", expert.group.MALFORMED, expert.severity.WARN)
local wrong_length = ProtoExpert.new("lldp_level.wrong_length", "The TLV's length is not 7: it is discarded",
  expert.group.MALFORMED, expert.severity.WARN)
local no_level = ProtoExpert.new("lldp_level.no_level", "A device without a level",
  expert.group.COMMENTS_GROUP, expert.severity.CHAT)
local wrong_layers_length = ProtoExpert.new("lldp_level.wrong_layers_length",
  "The TLV's length is not 6: it is discarded", expert.group.MALFORMED, expert.severity.WARN)
local no_layer = ProtoExpert.new("lldp_level.no_layer", "A layer above 31: as if the TLV were not there",
  expert.group.PROTOCOL, expert.severity.WARN)
local contradiction = ProtoExpert.new("lldp_level.contradiction",
  "A host on another level than 0: it counts as neither", expert.group.PROTOCOL, expert.severity.WARN)
local wrong_location = ProtoExpert.new("lldp_level.wrong_location",
  "No list of tiers, each with an ID, their levels rising: it is discarded", expert.group.MALFORMED,
  expert.severity.WARN)
local wrong_classes_length = ProtoExpert.new("lldp_level.wrong_classes_length",
  "No list of at most 7 classes of 13 octets: it is discarded", expert.group.MALFORMED, expert.severity.WARN)
lldp_level.experts = {wrong_classes_length, wrong_order, wrong_location, wrong_length, wrong_layers_length, no_level, no_layer, contradiction}

lldp_level.prefs.oui = Pref.string("OUI of the Contribution TLV", "02-4C-56",
  "As tlv.contribution-oui in lldp-level.conf(5); several are separated by commas")

local ieee = 0x0080c2
local ouis = {}
local function read_ouis()
  ouis = {}
  for text in string.gmatch(lldp_level.prefs.oui, "[^,%s]+") do
    local digits = string.gsub(text, "[-:]", "")
    if string.match(digits, "^%x%x%x%x%x%x$") then ouis[tonumber(digits, 16)] = true end
  end
end
read_ouis()
lldp_level.prefs_changed = read_ouis

local function kind_of(oui, subtype)
  if oui == ieee and subtype == 0x14 then return tr end
  if ouis[oui] and subtype == 0x01 then return contribution end
  if ouis[oui] and subtype == 0x02 then return location end
  if ouis[oui] and subtype == 0x03 then return layers end
  if ouis[oui] and subtype == 0x04 then return order end
  if ouis[oui] and subtype == 0x05 then return classes end
end

local function show_layers(tree, octets)
  local branch = tree:add(lldp_level, octets, layers.name)
  if octets:len() ~= 2 + 6 then
    branch:add_proto_expert_info(wrong_layers_length)
    return
  end
  local near, far = octets(6, 1), octets(7, 1)
  branch:add(layers.near, near)
  branch:add(layers.far, far)
  if near:uint() > 31 or far:uint() > 31 then branch:add_proto_expert_info(no_layer) end
  branch:append_text(string.format(": %d:%d", near:uint(), far:uint()))
end

local function show_location(tree, octets)
  local branch = tree:add(lldp_level, octets, location.name)
  local at, last, tiers = 6, 0, {}
  while at < octets:len() do
    local left = octets:len() - at
    local length = left >= 2 and octets(at + 1, 1):uint() or 0
    local level = octets(at, 1):uint()
    if length < 2 or 6 + length > left or level <= last or level == 255 or #tiers == 32 then
      branch:add_proto_expert_info(wrong_location)
      return
    end
    branch:add(location.level, octets(at, 1))
    branch:add(location.subtype, octets(at + 2, 1))
    branch:add(location.id, octets(at + 3, length - 1))
    branch:add(location.age, octets(at + 2 + length, 4))
    table.insert(tiers, level)
    at, last = at + 6 + length, level
  end
  if #tiers == 0 then branch:add_proto_expert_info(wrong_location) end
  branch:append_text(": tiers " .. table.concat(tiers, ", "))
end

local function show_classes(tree, octets)
  local branch = tree:add(lldp_level, octets, classes.name)
  local count = (octets:len() - 6) / 13
  if count ~= math.floor(count) or count > 7 then
    branch:add_proto_expert_info(wrong_classes_length)
    return
  end
  local text = ""
  for i = 0, count - 1 do
    local one = octets(6 + 13 * i, 13)
    branch:add(classes.chain, one(0, 1))
    branch:add(classes.step, one(1, 1))
    branch:add(classes.priority, one(2, 1))
    branch:add(classes.dscp, one(3, 1))
    branch:add(classes.hops, one(4, 1))
    branch:add(classes.dscps, one(5, 8))
    local between = one(1, 1):uint() > 0 and " > " or i > 0 and ", " or ""
    text = text .. between .. one(2, 1):uint()
  end
  branch:append_text(": " .. (count == 0 and "none" or text))
end

-- Flags 1, agent ID 8, boot 4, session 4, sequence 4, level 1, length of the rank ID 1, rank ID, number of neighbors 1, and of each
-- agent ID 8, boot 4, session 4, acknowledged 4, flags 1.
local function show_order(tree, octets)
  local branch = tree:add(lldp_level, octets, order.name)
  local length = octets:len() - 6
  local id = length >= 24 and octets(28, 1):uint() or 0
  local count = length >= 24 + id and octets(29 + id, 1):uint() or 0
  local level = length >= 24 and octets(27, 1):uint() or 0
  local bottom = level == 255
  if length ~= 24 + id + 21 * count or count > 22 or level == 0 or (bottom and id ~= 0) or (not bottom and id < 2) or
      (octets(7, 4):uint() == 0 and octets(11, 4):uint() == 0) then
    branch:add_proto_expert_info(wrong_order)
    return
  end
  branch:add(order.host, octets(6, 1))
  branch:add(order.more, octets(6, 1))
  branch:add(order.agent, octets(7, 8))
  branch:add(order.boot, octets(15, 4))
  branch:add(order.session, octets(19, 4))
  branch:add(order.sequence, octets(23, 4))
  branch:add(order.level, octets(27, 1))
  if id > 0 then branch:add(order.id, octets(29, id)) end
  for i = 0, count - 1 do
    local one = octets(30 + id + 21 * i, 21)
    local entry = branch:add(lldp_level, one, "Neighbor")
    entry:add(order.neighbor, one(0, 8))
    entry:add(order.neighbor_boot, one(8, 4))
    entry:add(order.neighbor_session, one(12, 4))
    entry:add(order.acknowledged, one(16, 4))
    entry:add(order.waits, one(20, 1))
  end
  branch:append_text(string.format(": bound %s, number %d, hears %d", bottom and "none" or "of level " .. level,
    octets(23, 4):uint(), count))
end

local function show(tree, tlv, octets)
  local branch = tree:add(lldp_level, octets, tlv.name)
  if octets:len() ~= 2 + 7 then
    branch:add_proto_expert_info(wrong_length)
    return
  end
  local device, level, port = octets(6, 1), octets(7, 1), octets(8, 1)
  branch:add(tlv.fields.device, device)
  branch:add(tlv.fields.level, level)
  branch:add(tlv.fields.port, port)
  local d, l = device:uint(), level:uint()
  -- 0 and 255 stand for no number: to a host they are its level, to all others none.
  local given = l ~= 0 and l ~= 255
  if d == 0 and given then branch:add_proto_expert_info(contradiction) end
  if d ~= 0 and not given then branch:add_proto_expert_info(no_level) end
  branch:append_text(string.format(": %s, level %s, port %s", tlv.device[d] or "reserved " .. d,
    given and l or d == 0 and 0 or "unknown", tlv.port[port:uint()] or "reserved " .. port:uint()))
end

local found_oui = Field.new("lldp.orgtlv.oui")

function lldp_level.dissector(_, _, tree)
  for _, info in ipairs({found_oui()}) do
    -- Two octets of type and length stand before the OUI, the subtype behind it.
    local frame, at = info.source, info.offset
    if at >= 2 and frame:len() > at + 3 then
      local tlv = kind_of(info.value, frame(at + 3, 1):uint())
      local length = frame(at - 2, 2):bitfield(7, 9)
      if tlv and frame:len() >= at + length then
        local octets = frame(at - 2, 2 + length)
        if tlv == layers then show_layers(tree, octets)
        elseif tlv == location then show_location(tree, octets)
        elseif tlv == order then show_order(tree, octets)
        elseif tlv == classes then show_classes(tree, octets)
        else show(tree, tlv, octets) end
      end
    end
  end
end

register_postdissector(lldp_level)
