import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { join } from 'node:path'

const PROGRAM = join(import.meta.dirname, '..', '..', 'bin', 'gatewright')

/** A program of the benchmark. */
export interface Started {
  readonly pid: number
  end(): Promise<void>
}

/** Starts a command of the gateway, which ends with the benchmark. Its log is `<name>.log` in `GATEWRIGHT_BENCH_LOGS`, or in the scratch folder. */
export function start(
  scratch: string,
  name: string,
  words: readonly string[],
  environment: Readonly<Record<string, string>>,
): Started {
  const log = openSync(join(process.env.GATEWRIGHT_BENCH_LOGS ?? scratch, `${name}.log`), 'w')
  const child = spawn('setpriv', ['--pdeathsig', 'TERM', PROGRAM, ...words], {
    cwd: scratch,
    stdio: ['ignore', log, log],
    env: { ...process.env, ...environment },
  })
  return {
    pid: child.pid!,
    async end() {
      if (child.exitCode !== null) return
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}

/** The value of a metric in the text of a scrape; undefined: it has no such series. */
export function metric(text: string, series: string): number | undefined {
  const line = text.split('\n').find((each) => each.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ')))
}
