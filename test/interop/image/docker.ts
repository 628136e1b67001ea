import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { eventually } from '../../support/eventually.ts'
import { debianProgram, installedProgram, MissingCounterpart } from '../counterparts.ts'
import { runClient } from '../kubernetes/clients/run-client.ts'

/** A Docker of its own, in namespaces (network, mounts, processes) that end with it. */
export interface Docker {
  /** Runs a command of Docker. */
  docker(...words: readonly string[]): Promise<{ readonly code: number | null; readonly output: string }>
  /** The same; fails unless the exit code is 0. @returns what it printed */
  expectDocker(...words: readonly string[]): Promise<string>
  /** The body of an answer, asked for where published ports and addresses of containers work. */
  ask(url: string): Promise<string>
}

/**
 * Starts Debian's Docker, which need not be installed.
 * @param plugins of the client, by name
 * @throws MissingCounterpart without root, or what is not installed
 */
export async function startDocker(
  stops: AsyncDisposableStack,
  plugins: Readonly<Record<string, string>> = {},
): Promise<Docker> {
  if (process.getuid?.() !== 0) throw new MissingCounterpart('Docker needs root')
  const daemon = debianProgram('docker.io', 'usr/sbin/dockerd')
  const client = debianProgram('docker.io', 'usr/bin/docker')
  const others = [debianProgram('containerd', 'usr/bin/containerd'), debianProgram('runc', 'usr/sbin/runc')]
  installedProgram('iptables', 'iptables')
  const curl = installedProgram('curl', 'curl')
  const nsenter = installedProgram('nsenter', 'util-linux')
  const folder = mkdtempSync(join(tmpdir(), 'gatewright-docker-'))
  stops.defer(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, 'cli-plugins'))
  for (const [name, program] of Object.entries(plugins)) symlinkSync(program, join(folder, 'cli-plugins', name))

  const paths = [daemon, client, ...others].map((program) => dirname(program))
  const environment = {
    PATH: [...paths, process.env.PATH].join(delimiter),
    DOCKER_HOST: `unix://${folder}/docker.sock`,
    DOCKER_CONFIG: folder,
    // The builder that is part of the daemon.
    DOCKER_BUILDKIT: '0',
  }
  const start = `ip link set lo up && mount -t tmpfs tmpfs /run && exec dockerd -H "$DOCKER_HOST" \
    --data-root '${folder}/data' --exec-root /run/docker --pidfile /run/dockerd.pid`
  const words = ['--net', '--mount', '--pid', '--mount-proc', '--kill-child', '--fork', 'sh', '-c', start]
  const child = spawn(installedProgram('unshare', 'util-linux'), words, {
    env: { ...process.env, ...environment },
    stdio: 'ignore',
  })
  const ended = once(child, 'exit')
  stops.defer(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const docker = (...of: readonly string[]) => runClient(client, of, { environment })
  await eventually('Docker runs', async () => (await docker('info')).code === 0)
  const inside = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim()
  return {
    docker,
    expectDocker: async (...of) => {
      const { code, output } = await docker(...of)
      if (code !== 0) throw new Error(`docker ${of.join(' ')}: ${output}`)
      return output.trim()
    },
    ask: async (url) => (await runClient(nsenter, ['-t', inside, '-n', curl, '-s', '--max-time', '5', url])).output,
  }
}
