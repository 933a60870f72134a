# SPDX-License-Identifier: Apache-2.0
"""config lldp-level ...: the rows LLDP_LEVEL|GLOBAL and LLDP_LEVEL_PORT|PORT of CONFIG_DB, checked by the model before they are
written. The daemon follows them."""
import copy

import click
import utilities_common.cli as clicommon
import utilities_common.general as general

DEVICE = ("role", "level", "ports", "host-ports", "backend", "tx-interval", "tx-hold", "lossless", "lossy", "restore",
          "rewrite-verified")
PORT = ("admin", "description", "unheard", "crosslink")


def validate(config):
    """By the YANG models, as `config reload` does it."""
    from config import config_mgmt
    # It has no .py behind its name.
    cfggen = general.load_module_from_source("sonic_cfggen", "/usr/local/bin/sonic-cfggen")
    config_mgmt.ConfigMgmt().loadData(cfggen.FormatConverter.to_serialized(copy.deepcopy(config)))


def write(db, table, key, field, value):
    """Sets a field; None takes it away, and the row with the last one."""
    config = db.get_config()
    row = dict(config.get(table, {}).get(key, {}))
    if value is None:
        if row.pop(field, None) is None:
            raise click.ClickException(f"{table}|{key} has no {field}")
    else:
        row[field] = value
    config.setdefault(table, {})[key] = row
    if not row:
        del config[table][key]
    try:
        validate(config)
    except Exception as error:  # libyang's, sonic_yang's
        raise click.ClickException(f"{table}|{key}: {field}: the model refuses it: {error}")
    db.set_entry(table, key, row or None)


@click.group("lldp-level")
def lldp_level():
    """Configure lldp-level"""


@lldp_level.group("global")
def device():
    """The device"""


@device.command("set")
@click.argument("field", type=click.Choice(DEVICE))
@click.argument("value")
@clicommon.pass_db
def device_set(db, field, value):
    """Set a field of LLDP_LEVEL|GLOBAL"""
    write(db.cfgdb, "LLDP_LEVEL", "GLOBAL", field, value)


@device.command("del")
@click.argument("field", type=click.Choice(DEVICE))
@clicommon.pass_db
def device_del(db, field):
    """Remove a field: the file of the image says it again"""
    write(db.cfgdb, "LLDP_LEVEL", "GLOBAL", field, None)


@lldp_level.group("port")
def port():
    """A port"""


@port.command("set")
@click.argument("name")
@click.argument("field", type=click.Choice(PORT))
@click.argument("value")
@clicommon.pass_db
def port_set(db, name, field, value):
    """Set a field of LLDP_LEVEL_PORT|NAME"""
    write(db.cfgdb, "LLDP_LEVEL_PORT", name, field, value)


@port.command("del")
@click.argument("name")
@click.argument("field", type=click.Choice(PORT))
@clicommon.pass_db
def port_del(db, name, field):
    """Remove a field"""
    write(db.cfgdb, "LLDP_LEVEL_PORT", name, field, None)


def register(cli):
    cli.add_command(lldp_level)
