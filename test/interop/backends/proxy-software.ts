import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '../../support/eventually.ts'
import { installedProgram, type Running, startServer } from '../counterparts.ts'

/** A folder for the files of one part, readable by servers that change their user. */
export function partFolder(stops: AsyncDisposableStack): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatewright-interop-'))
  chmodSync(folder, 0o755)
  stops.defer(() => rmSync(folder, { recursive: true }))
  return folder
}

/** Where a server keeps its files, and the ports at which it listens when it is ready. */
export interface Place {
  readonly folder: string
  readonly ports: readonly number[]
}

/** Starts nginx. @param servers `server` blocks and what else belongs in `http` */
export async function startNginx(stops: AsyncDisposableStack, { folder, ports }: Place, servers: string) {
  const program = installedProgram('nginx', 'nginx')
  const own = join(folder, 'nginx')
  mkdirSync(own)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((of) => `${of}_temp_path ${own}/${of};`)
  const file = join(own, 'nginx.conf')
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  writeFileSync(
    file,
    `daemon off; ${user} worker_processes 1; pid ${own}/pid; error_log ${own}/error.log;
events { worker_connections 1024; }
http { access_log off; ${temporary.join(' ')}
${servers}
}`,
  )
  return started(stops, program, ['-p', own, '-e', `${own}/error.log`, '-c', file], ports)
}

/** Starts haproxy. @param sections of its configuration, after `defaults` */
export async function startHaproxy(stops: AsyncDisposableStack, { folder, ports }: Place, sections: string) {
  const program = installedProgram('haproxy', 'haproxy')
  const file = join(folder, 'haproxy.cfg')
  const defaults = ['mode http', 'timeout client 30s', 'timeout server 30s', 'timeout connect 5s']
  writeFileSync(file, `defaults\n${defaults.map((line) => `  ${line}\n`).join('')}${sections}\n`)
  return started(stops, program, ['-db', '-f', file], ports)
}

/** Starts squid. @param lines of its configuration */
export async function startSquid(stops: AsyncDisposableStack, { folder, ports }: Place, lines: readonly string[]) {
  const program = installedProgram('squid', 'squid')
  const own = join(folder, 'squid')
  mkdirSync(own)
  // It changes its user.
  chmodSync(own, 0o777)
  const file = join(own, 'squid.conf')
  const quiet = ['pid_filename none', `cache_log ${own}/cache.log`, 'cache deny all', `coredump_dir ${own}`]
  writeFileSync(file, [...quiet, 'shutdown_lifetime 0 seconds', 'pinger_enable off', ...lines, ''].join('\n'))
  return started(stops, program, ['-N', '-f', file], ports)
}

/** Starts tinyproxy. @param lines of its configuration */
export async function startTinyproxy(stops: AsyncDisposableStack, { folder, ports }: Place, lines: readonly string[]) {
  const program = installedProgram('tinyproxy', 'tinyproxy')
  const file = join(folder, 'tinyproxy.conf')
  const listening = ports.flatMap((port) => [`Port ${port}`, 'Listen 127.0.0.1'])
  writeFileSync(file, [...listening, ...lines, ''].join('\n'))
  return started(stops, program, ['-d', '-c', file], ports)
}

async function started(
  stops: AsyncDisposableStack,
  program: string,
  words: readonly string[],
  ports: readonly number[],
): Promise<Running> {
  const running = stops.use(startServer(program, { words }))
  try {
    await eventually('all ports', async () => (await Promise.all(ports.map(isOpen))).every(Boolean))
  } catch {
    throw new Error(`${program} does not listen: ${running.complaints()}`)
  }
  return running
}

/** Whether a server listens at a loopback port. */
export function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
