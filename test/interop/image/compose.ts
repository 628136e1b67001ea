import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { eventually } from '../../support/eventually.ts'
import { builtGoProgram, debianProgram } from '../counterparts.ts'
import type { Part } from '../run-parts.ts'
import { startDocker } from './docker.ts'
import { imageFolder } from './image-folder.ts'

const PATIENCE_MS = 60_000

interface Answer<Data> {
  readonly data: Data
}

/** `compose.yaml` with the gateway, and with Debian's Prometheus in an image of the name that it has there; Grafana is in no package. */
export const checkCompose: Part = async (transcript, stops) => {
  const folder = imageFolder(stops)
  const plugin = builtGoProgram(
    join(import.meta.dirname, 'compose'),
    'docker-compose',
    'github.com/docker/compose/v2/cmd',
  )
  const { docker, expectDocker, ask } = await startDocker(stops, { 'docker-compose': plugin })
  const compose = ['compose', '-f', join(folder, 'compose', 'compose.yaml')]
  transcript.check('docker compose config', (await docker(...compose, 'config', '--quiet')).output, '')
  const image = await expectDocker(...compose, 'config', '--images', 'prometheus')
  await expectDocker('build', '--tag', image, prometheusFolder(folder))
  await expectDocker(...compose, 'up', '-d', '--build', 'gateway', 'prometheus')

  const hello = async () => (await ask('http://127.0.0.1:8080/')) || undefined
  transcript.check('an answer', await eventually('an answer', hello, PATIENCE_MS), 'hello from a container\n')
  const prometheus = async <Data>(path: string) =>
    (JSON.parse(await ask(`http://127.0.0.1:9090/api/v1/${path}`)) as Answer<Data>).data
  const scraped = async () => {
    const { result } = await prometheus<{ result: readonly { value: readonly [number, string] }[] }>('query?query=up')
    return result[0]?.value[1] === '1' ? true : undefined
  }
  transcript.check('Prometheus scrapes the gateway', await eventually('a scrape', scraped, PATIENCE_MS), true)
  const { groups } = await prometheus<{ groups: readonly { name: string }[] }>('rules')
  const names = groups.map(({ name }) => name)
  transcript.check('Prometheus has the alert rules', names, ['gatewright'])
  const { code } = await docker(...compose, 'exec', '-T', 'gateway', 'gatewright', 'status')
  transcript.check('gatewright status', code, 0)
  await expectDocker(...compose, 'down')
}

/** A Dockerfile that starts Prometheus as its published image does. */
function prometheusFolder(above: string): string {
  const folder = join(above, 'prometheus')
  const program = debianProgram('prometheus', 'usr/bin/prometheus')
  const lines = execFileSync('ldd', [program], { encoding: 'utf8' })
  const libraries = [...lines.matchAll(/(?:=> )?(\/\S+) \(0x/g)].map(([, path]) => path!)
  for (const [from, to] of [[program, '/bin/prometheus'], ...libraries.map((path) => [path, path])] as const) {
    const target = join(folder, 'files', to!)
    mkdirSync(dirname(target), { recursive: true })
    copyFileSync(from!, target)
  }
  const command = '["--config.file=/etc/prometheus/prometheus.yml", "--storage.tsdb.path=/prometheus"]'
  writeFileSync(
    join(folder, 'Dockerfile'),
    `FROM scratch\nADD files /\nENTRYPOINT ["/bin/prometheus"]\nCMD ${command}\n`,
  )
  return folder
}
