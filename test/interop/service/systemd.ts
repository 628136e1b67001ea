import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '../../support/eventually.ts'
import { installedProgram, MissingCounterpart } from '../counterparts.ts'
import { runClient } from '../kubernetes/clients/run-client.ts'

const ROOT = join(import.meta.dirname, '..', '..', '..')
const GROUPS = '/sys/fs/cgroup/systemd'
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin'

/** @returns the exit code and what it printed */
export type Shell = (command: string) => Promise<{ readonly code: number | null; readonly output: string }>

/** Starts systemd in namespaces (network, mounts, processes ...) that end with it. @returns a shell inside @throws MissingCounterpart */
export async function startSystemd(stops: AsyncDisposableStack): Promise<Shell> {
  if (process.getuid?.() !== 0) throw new MissingCounterpart('systemd needs root')
  installedProgram('systemctl', 'systemd')
  if (!existsSync(GROUPS)) throw new MissingCounterpart('systemd needs cgroups of version 1')
  const unshare = installedProgram('unshare', 'util-linux')
  const nsenter = installedProgram('nsenter', 'util-linux')
  const group = join(GROUPS, `gatewright-service-${process.pid}`)
  mkdirSync(group)
  const removeGroup = () => {
    execFileSync('find', [group, '-depth', '-type', 'd', '-exec', 'rmdir', '{}', ';'], { stdio: 'ignore' })
    return !existsSync(group)
  }
  // Its processes are still ending.
  stops.defer(async () => void (await eventually('the control group is empty', removeGroup)))
  const spaces = '--net --mount --pid --cgroup --uts --ipc --fork --kill-child'
  const start = `echo $$ > ${group}/cgroup.procs && exec "$0" ${spaces} "$@"`
  const words = ['-c', start, unshare, join(import.meta.dirname, 'boot.sh'), ROOT]
  const child = spawn('sh', words, { stdio: 'ignore' })
  const ended = once(child, 'exit')
  stops.defer(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const children = `/proc/${child.pid}/task/${child.pid}/children`
  const shell: Shell = (command) =>
    runClient(nsenter, ['-t', readFileSync(children, 'utf8').trim(), '-a', 'sh', '-c', command], {
      environment: { PATH, HOME: '/root' },
    })
  await eventually('systemd runs', async () =>
    /running|degraded/.test((await shell('systemctl is-system-running')).output),
  )
  return shell
}
