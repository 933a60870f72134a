# SPDX-License-Identifier: Apache-2.0
"""show lldp-level ...: what the daemon in the container says."""
import subprocess

import click


def run(*words):
    """The client in the container, on this terminal. Its exit status is the command's."""
    done = subprocess.run(["docker", "exec", "lldp-level", "lldp-level", *words])
    if done.returncode != 0:
        raise SystemExit(done.returncode)


@click.group("lldp-level", invoke_without_command=True)
@click.pass_context
def lldp_level(context):
    """Show levels, ports and protection"""
    if context.invoked_subcommand is None:
        run("show")


@lldp_level.command()
@click.argument("ports", nargs=-1)
def ports(ports):
    """Show these ports, or all"""
    run("show", *ports)


@lldp_level.command()
@click.argument("ports", nargs=-1)
def detail(ports):
    """Show neighbors and TLVs"""
    run("show", "detail", *ports)


@lldp_level.command()
def rules():
    """Show the rules of each port, and how far they are in force"""
    run("rules")


@lldp_level.command()
def check():
    """Tell in one line whether all is well; exit status 0, 1, 2"""
    run("check")


@lldp_level.command("config")
def configuration():
    """Show every key, its value and its source"""
    run("config")


def register(cli):
    cli.add_command(lldp_level)
