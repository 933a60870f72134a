// SPDX-License-Identifier: GPL-2.0-only
/* A switch chip to test on: ports swp0, swp1, ... and the other end of each one's cable, wire0,
 * wire1, ...
 *
 * What comes in by a cable for 02:..:NN leaves by port NN without the kernel's seeing it, changed
 * as the flower rules say that were offloaded to the egress of that port; anything else goes to the
 * kernel, which may send it out by swpNN. dcbnl keeps what is set. What it refuses, it refuses as
 * drivers do that are in use (mlxsw): with the same limits, and in words. */
#include <linux/debugfs.h>
#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/seq_file.h>
#include <net/dcbnl.h>
#include <net/dsfield.h>
#include <net/flow_offload.h>
#include <net/pkt_cls.h>

#define MAX_PORTS 128
#define NAME "lldp_test_switch"

static int ports = 4;
module_param(ports, int, 0444);
static int asics = 1; /* port n belongs to chip n % asics */
module_param(asics, int, 0444);
static bool refuse; /* each new rule */
module_param(refuse, bool, 0644);
static bool no_egress; /* blocks at the egress, as chips that cannot */
module_param(no_egress, bool, 0644);
static bool nic; /* ports are no chip's */
module_param(nic, bool, 0444);
static bool deaf; /* PFC is accepted, and not done */
module_param(deaf, bool, 0644);
static uint added, removed; /* rules, ever */
module_param(added, uint, 0444);
module_param(removed, uint, 0444);

struct port {
  struct net_device *dev, *wire;
  int number;
  struct ieee_ets ets;
  struct ieee_pfc pfc;
  u8 dcbx;
  struct block *egress, *ingress;
  u64 out[8]; /* packets that the chip sent out, by priority */
};

struct rule {
  struct list_head list;
  unsigned long cookie;
  u32 chain, pref, in, jump;
  bool has_in, has_jump, has_priority, has_dscp, has_tos;
  struct net_device* to; /* where it redirects to */
  __be16 protocol;       /* 0: any */
  u8 tos, tos_mask, dscp, priority;
  u64 packets, bytes, told_packets, told_bytes, used;
};

/* Rules of a tc block, whose ports are all of one chip. */
struct block {
  struct list_head rules;
  int chip, bound;
};

static struct port* all[MAX_PORTS];
static const struct net_device_ops port_ops;
static LIST_HEAD(block_cbs);
static DEFINE_SPINLOCK(lock); /* rules, for packets */
static struct dentry* dir;

static struct port* port_of(struct net_device* dev) { return *(struct port**)netdev_priv(dev); }

static void give(struct sk_buff* skb, struct net_device* dev) {
  skb_orphan(skb);
  skb->tc_index = 0;
  skb->priority = 0;
  skb->protocol = eth_type_trans(skb, dev);
  netif_rx(skb);
}

/* ---- packets */

static void rewrite(struct sk_buff* skb, const struct rule* r) {
  if (!r->has_dscp) return;
  if (skb->protocol == htons(ETH_P_IP))
    ipv4_change_dsfield(ip_hdr(skb), 3, r->dscp << 2);
  else
    ipv6_change_dsfield(ipv6_hdr(skb), 3, r->dscp << 2);
}

static u8 run(struct block* b, struct sk_buff* skb, u32 in, u8 priority) {
  u8 tos = skb->protocol == htons(ETH_P_IP) ? ipv4_get_dsfield(ip_hdr(skb))
                                            : ipv6_get_dsfield(ipv6_hdr(skb));
  u32 chain = 0;
  struct rule* r;
again:
  list_for_each_entry(r, &b->rules, list) {
    if (r->chain != chain || (r->has_in && r->in != in) ||
        (r->protocol && r->protocol != skb->protocol) ||
        (r->has_tos && (tos & r->tos_mask) != r->tos))
      continue;
    r->packets++;
    r->bytes += skb->len;
    r->used = jiffies;
    if (r->has_jump) {
      if (r->jump <= chain) return priority;
      chain = r->jump;
      goto again;
    }
    rewrite(skb, r);
    return r->has_priority ? r->priority : priority;
  }
  return priority;
}

/* The port that a rule at the ingress sends it to. */
static struct port* redirected(struct port* in, const struct sk_buff* skb) {
  struct port* out = NULL;
  struct rule* r;

  spin_lock_bh(&lock);
  if (in->ingress)
    list_for_each_entry(r, &in->ingress->rules,
                        list) if (r->to && (!r->protocol || r->protocol == eth_hdr(skb)->h_proto)) {
      out = port_of(r->to);
      break;
    }
  spin_unlock_bh(&lock);
  return out;
}

static netdev_tx_t from_wire(struct sk_buff* skb, struct net_device* wire) {
  struct port *in = port_of(wire), *out;
  const u8* to;
  u8 priority = 0;

  skb = skb_unshare(skb, GFP_ATOMIC);
  if (!skb || skb_linearize(skb)) {
    kfree_skb(skb);
    return NETDEV_TX_OK;
  }
  skb_reset_mac_header(skb);
  to = skb->data;
  out = nic                                                                   ? redirected(in, skb)
        : to[0] == 2 && !to[1] && !to[2] && !to[3] && !to[4] && to[5] < ports ? all[to[5]]
                                                                              : NULL;
  if (!out || out == in || !(out->dev->flags & IFF_UP)) {
    give(skb, in->dev);
    return NETDEV_TX_OK;
  }
  skb->protocol = eth_hdr(skb)->h_proto;
  skb_set_network_header(skb, ETH_HLEN);
  spin_lock_bh(&lock);
  if ((skb->protocol == htons(ETH_P_IP) && skb->len >= ETH_HLEN + sizeof(struct iphdr)) ||
      (skb->protocol == htons(ETH_P_IPV6) && skb->len >= ETH_HLEN + sizeof(struct ipv6hdr)))
    if (out->egress) priority = run(out->egress, skb, in->dev->ifindex, priority);
  out->out[priority & 7]++;
  spin_unlock_bh(&lock);
  give(skb, out->wire);
  return NETDEV_TX_OK;
}

static netdev_tx_t from_kernel(struct sk_buff* skb, struct net_device* dev) {
  give(skb, port_of(dev)->wire);
  return NETDEV_TX_OK;
}

/* ---- rules */

static int take_actions(struct rule* r, struct flow_action* actions,
                        struct netlink_ext_ack* extack) {
  struct flow_action_entry* a;
  int i;

  flow_action_for_each(i, a, actions) {
    switch (a->id) {
      case FLOW_ACTION_ACCEPT:
        break;
      case FLOW_ACTION_REDIRECT:
        if (!nic || a->dev->netdev_ops != &port_ops) {
          NL_SET_ERR_MSG_MOD(extack, "Unsupported redirect");
          return -EOPNOTSUPP;
        }
        r->to = a->dev;
        break;
      case FLOW_ACTION_GOTO:
        r->has_jump = true;
        r->jump = a->chain_index;
        break;
      case FLOW_ACTION_PRIORITY:
        if (a->priority > 7) {
          NL_SET_ERR_MSG_MOD(extack, "Only priorities 0 to 7 are supported");
          return -EOPNOTSUPP;
        }
        r->has_priority = true;
        r->priority = a->priority;
        break;
      case FLOW_ACTION_MANGLE:
        if (a->mangle.offset == 0 && a->mangle.htype == FLOW_ACT_MANGLE_HDR_TYPE_IP4 &&
            a->mangle.mask == (__force u32)htonl(0xff03ffff))
          r->dscp = ntohl((__force __be32)a->mangle.val) >> 18 & 63;
        else if (a->mangle.offset == 0 && a->mangle.htype == FLOW_ACT_MANGLE_HDR_TYPE_IP6 &&
                 a->mangle.mask == (__force u32)htonl(0xf03fffff))
          r->dscp = ntohl((__force __be32)a->mangle.val) >> 22 & 63;
        else {
          NL_SET_ERR_MSG_MOD(extack, "Unsupported mangle field");
          return -EOPNOTSUPP;
        }
        r->has_dscp = true;
        break;
      default:
        NL_SET_ERR_MSG_MOD(extack, "Unsupported action");
        return -EOPNOTSUPP;
    }
  }
  return 0;
}

static int take_match(struct rule* r, struct block* b, struct flow_rule* f,
                      struct netlink_ext_ack* extack) {
  const unsigned long known = BIT(FLOW_DISSECTOR_KEY_META) | BIT(FLOW_DISSECTOR_KEY_CONTROL) |
                              BIT(FLOW_DISSECTOR_KEY_BASIC) | BIT(FLOW_DISSECTOR_KEY_IP);

  if (f->match.dissector->used_keys & ~known) {
    NL_SET_ERR_MSG_MOD(extack, "Unsupported key");
    return -EOPNOTSUPP;
  }
  if (flow_rule_match_key(f, FLOW_DISSECTOR_KEY_META)) {
    struct flow_match_meta m;
    int i;

    flow_rule_match_meta(f, &m);
    for (i = 0; i < ports; i++)
      if (all[i]->dev->ifindex == m.key->ingress_ifindex) break;
    if (i == ports) {
      NL_SET_ERR_MSG_MOD(extack, "Can't match on ingress ifindex of a foreign port");
      return -EINVAL;
    }
    if (i % asics != b->chip) {
      NL_SET_ERR_MSG_MOD(extack, "Can't match on a port of another switch");
      return -EINVAL;
    }
    r->has_in = true;
    r->in = m.key->ingress_ifindex;
  }
  if (flow_rule_match_key(f, FLOW_DISSECTOR_KEY_BASIC)) {
    struct flow_match_basic m;

    flow_rule_match_basic(f, &m);
    r->protocol = m.key->n_proto & m.mask->n_proto;
  }
  if (flow_rule_match_key(f, FLOW_DISSECTOR_KEY_IP)) {
    struct flow_match_ip m;

    flow_rule_match_ip(f, &m);
    r->has_tos = true;
    r->tos = m.key->tos & m.mask->tos;
    r->tos_mask = m.mask->tos;
  }
  return 0;
}

static struct rule* find(struct block* b, unsigned long cookie) {
  struct rule* r;

  list_for_each_entry(r, &b->rules, list) if (r->cookie == cookie) return r;
  return NULL;
}

static void drop(struct rule* r) {
  spin_lock_bh(&lock);
  list_del(&r->list);
  spin_unlock_bh(&lock);
  kfree(r);
  removed++;
}

static int replace(struct block* b, struct flow_cls_offload* f) {
  struct rule *r, *at, *old = find(b, f->cookie);
  int err;

  if (refuse) {
    NL_SET_ERR_MSG_MOD(f->common.extack, "The table of rules is full");
    return -ENOSPC;
  }
  r = kzalloc(sizeof(*r), GFP_KERNEL);
  if (!r) return -ENOMEM;
  r->cookie = f->cookie;
  r->chain = f->common.chain_index;
  r->pref = f->common.prio;
  err = take_match(r, b, flow_cls_offload_flow_rule(f), f->common.extack);
  if (!err) err = take_actions(r, &flow_cls_offload_flow_rule(f)->action, f->common.extack);
  if (err) {
    kfree(r);
    return err;
  }
  spin_lock_bh(&lock);
  list_for_each_entry(at, &b->rules, list) if (at->pref > r->pref) break;
  list_add_tail(&r->list, &at->list);
  spin_unlock_bh(&lock);
  added++;
  if (old) drop(old);
  return 0;
}

static int on_rule(enum tc_setup_type type, void* data, void* priv) {
  struct flow_cls_offload* f = data;
  struct block* b = priv;
  struct rule* r;

  if (type != TC_SETUP_CLSFLOWER) return -EOPNOTSUPP;
  if (f->command == FLOW_CLS_REPLACE) return replace(b, f);
  r = find(b, f->cookie);
  if (!r) return -ENOENT;
  switch (f->command) {
    case FLOW_CLS_DESTROY:
      drop(r);
      return 0;
    case FLOW_CLS_STATS:
      flow_stats_update(&f->stats, r->bytes - r->told_bytes, r->packets - r->told_packets, 0,
                        r->used, FLOW_ACTION_HW_STATS_DELAYED);
      r->told_bytes = r->bytes;
      r->told_packets = r->packets;
      return 0;
    default:
      return -EOPNOTSUPP;
  }
}

static void release_block(void* priv) {
  struct block* b = priv;

  while (!list_empty(&b->rules)) drop(list_first_entry(&b->rules, struct rule, list));
  kfree(b);
}

static int bind(struct port* p, struct flow_block_offload* f, bool egress) {
  struct flow_block_cb* cb = flow_block_cb_lookup(f->block, on_rule, &all[p->number % asics]);
  struct block* b;

  if (!cb) {
    b = kzalloc(sizeof(*b), GFP_KERNEL);
    if (!b) return -ENOMEM;
    INIT_LIST_HEAD(&b->rules);
    b->chip = p->number % asics;
    cb = flow_block_cb_alloc(on_rule, &all[b->chip], b, release_block);
    if (IS_ERR(cb)) {
      kfree(b);
      return PTR_ERR(cb);
    }
    flow_block_cb_add(cb, f);
    list_add_tail(&cb->driver_list, &block_cbs);
  }
  flow_block_cb_incref(cb);
  spin_lock_bh(&lock);
  *(egress ? &p->egress : &p->ingress) = flow_block_cb_priv(cb);
  spin_unlock_bh(&lock);
  return 0;
}

static int unbind(struct port* p, struct flow_block_offload* f, bool egress) {
  struct flow_block_cb* cb = flow_block_cb_lookup(f->block, on_rule, &all[p->number % asics]);

  if (!cb) return -ENOENT;
  spin_lock_bh(&lock);
  *(egress ? &p->egress : &p->ingress) = NULL;
  spin_unlock_bh(&lock);
  if (!flow_block_cb_decref(cb)) {
    flow_block_cb_remove(cb, f);
    list_del(&cb->driver_list);
  }
  return 0;
}

static int setup_tc(struct net_device* dev, enum tc_setup_type type, void* data) {
  struct flow_block_offload* f = data;
  bool egress;

  if (type != TC_SETUP_BLOCK) return -EOPNOTSUPP;
  egress = f->binder_type == FLOW_BLOCK_BINDER_TYPE_CLSACT_EGRESS;
  if (f->binder_type != FLOW_BLOCK_BINDER_TYPE_CLSACT_INGRESS && (!egress || no_egress))
    return -EOPNOTSUPP;
  f->driver_block_list = &block_cbs;
  if (f->command == FLOW_BLOCK_BIND) return bind(port_of(dev), f, egress);
  return f->command == FLOW_BLOCK_UNBIND ? unbind(port_of(dev), f, egress) : -EOPNOTSUPP;
}

/* ---- dcbnl */

static int get_ets(struct net_device* dev, struct ieee_ets* ets) {
  *ets = port_of(dev)->ets;
  return 0;
}

static int set_ets(struct net_device* dev, struct ieee_ets* ets) {
  struct port* p = port_of(dev);

  ets->ets_cap = p->ets.ets_cap;
  p->ets = *ets;
  return 0;
}

static int get_pfc(struct net_device* dev, struct ieee_pfc* pfc) {
  *pfc = port_of(dev)->pfc;
  return 0;
}

static int set_pfc(struct net_device* dev, struct ieee_pfc* pfc) {
  struct port* p = port_of(dev);

  if (hweight8(pfc->pfc_en) > p->pfc.pfc_cap) return -EINVAL;
  if (deaf) return 0;
  p->pfc.pfc_en = pfc->pfc_en;
  p->pfc.delay = pfc->delay;
  p->pfc.mbc = pfc->mbc;
  return 0;
}

static u8 get_dcbx(struct net_device* dev) { return port_of(dev)->dcbx; }

static u8 set_dcbx(struct net_device* dev, u8 mode) {
  port_of(dev)->dcbx = mode;
  return 0;
}

static const struct dcbnl_rtnl_ops dcb_ops = {
    .ieee_getets = get_ets,
    .ieee_setets = set_ets,
    .ieee_getpfc = get_pfc,
    .ieee_setpfc = set_pfc,
    .getdcbx = get_dcbx,
    .setdcbx = set_dcbx,
};

/* ---- interfaces */

static int parent_id(struct net_device* dev, struct netdev_phys_item_id* id) {
  if (nic) return -EOPNOTSUPP;
  id->id_len = 4;
  memcpy(id->id, "lld", 3);
  id->id[3] = port_of(dev)->number % asics;
  return 0;
}

static const struct net_device_ops port_ops = {
    .ndo_start_xmit = from_kernel,
    .ndo_setup_tc = setup_tc,
    .ndo_get_port_parent_id = parent_id,
};
static const struct net_device_ops wire_ops = {
    .ndo_start_xmit = from_wire,
};

static struct net_device* make(struct port* p, const char* name, const struct net_device_ops* ops) {
  u8 address[ETH_ALEN] = {2, 0, 0, 0, ops == &wire_ops, p->number};
  struct net_device* dev = alloc_etherdev(sizeof(struct port*));

  if (!dev) return NULL;
  *(struct port**)netdev_priv(dev) = p;
  snprintf(dev->name, IFNAMSIZ, "%s%d", name, p->number);
  eth_hw_addr_set(dev, address);
  dev->netdev_ops = ops;
  dev->tx_queue_len = 1000;
  if (ops == &port_ops) {
    dev->dcbnl_ops = &dcb_ops;
    dev->hw_features |= NETIF_F_HW_TC;
    dev->features |= NETIF_F_HW_TC;
  }
  if (register_netdev(dev)) {
    free_netdev(dev);
    return NULL;
  }
  return dev;
}

static int queues_show(struct seq_file* s, void* unused) {
  int i, priority;

  for (i = 0; i < ports; i++) {
    seq_printf(s, "%s", all[i]->dev->name);
    for (priority = 0; priority < 8; priority++) seq_printf(s, " %llu", all[i]->out[priority]);
    seq_putc(s, '\n');
  }
  return 0;
}
DEFINE_SHOW_ATTRIBUTE(queues);

static void unmake(void) {
  int i;

  debugfs_remove_recursive(dir);
  for (i = 0; i < ports; i++) {
    if (!all[i]) continue;
    if (all[i]->wire) unregister_netdev(all[i]->wire);
    if (all[i]->dev) unregister_netdev(all[i]->dev);
  }
  for (i = 0; i < ports; i++) {
    if (!all[i]) continue;
    if (all[i]->wire) free_netdev(all[i]->wire);
    if (all[i]->dev) free_netdev(all[i]->dev);
    kfree(all[i]);
  }
}

static int __init start(void) {
  int i;

  if (ports < 1 || ports > MAX_PORTS || asics < 1) return -EINVAL;
  for (i = 0; i < ports; i++) {
    struct port* p = kzalloc(sizeof(*p), GFP_KERNEL);

    all[i] = p;
    if (!p) goto failed;
    p->number = i;
    p->ets.ets_cap = 8;
    p->pfc.pfc_cap = 4;
    p->dcbx = DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE;
    p->dev = make(p, "swp", &port_ops);
    p->wire = p->dev ? make(p, "wire", &wire_ops) : NULL;
    if (!p->wire) goto failed;
  }
  dir = debugfs_create_dir(NAME, NULL);
  debugfs_create_file("queues", 0444, dir, NULL, &queues_fops);
  return 0;
failed:
  unmake();
  return -ENOMEM;
}

module_init(start);
module_exit(unmake);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A switch chip with dcbnl and flower offload, for lldp-level's tests");
