import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import type { DescribedRecord } from '#admin/describe-record.ts'
import { startEcho } from '#examples/upstreams/echo.ts'
import { gatewright } from '#test/support/command-line.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import type { StartGateway } from '#test/support/gateway-options.ts'
import { startGatewayProcess } from '#test/support/gateway-process.ts'
import { backendYaml, createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { PassingTime } from '#test/support/passing-time.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'

/** The records of all files, in order of the files. */
function readRecords(folder: string): DescribedRecord[] {
  return readdirSync(folder)
    .toSorted()
    .flatMap((name) => {
      const lines = gunzipSync(readFileSync(join(folder, name)))
        .toString()
        .trimEnd()
        .split('\n')
      const [header, ...records] = lines.map((line) => JSON.parse(line) as DescribedRecord)
      expect(header).toMatchObject({ format: 'gatewright-records', formatVersion: 1 })
      return records
    })
}

async function startWithRecords(records: string, start: StartGateway, environment = {}) {
  const stops = new AsyncDisposableStack()
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  const port = await freePort()
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(gatewayYaml(port), backendYaml('echo', echo.port), routeYaml('shop', '/shop', 'echo')),
  })
  stops.defer(folder.remove)
  const words = records === '' ? [] : ['--records', records]
  const gateway = await start({ files: [folder.path], workers: 2, arguments: words, environment })
  stops.use(gateway)
  const call = async (path: string) => await (await fetch(`http://127.0.0.1:${port}${path}`)).text()
  return { gateway, call, stops }
}

test('every request is in the folder, also the last one before the end, and a second gateway adds files', async () => {
  const records = join(temporaryFolder(), 'records')
  const sent: string[] = []
  for (const run of [1, 2]) {
    const { gateway, call, stops } = await startWithRecords(records, run === 1 ? startGateway : startGatewayProcess)
    await using _ = stops
    for (let i = 0; i < 30; i++) {
      const path = i % 3 === 0 ? `/none/${run}-${i}` : `/shop/${run}-${i}?token=hidden-${i}`
      await call(path)
      sent.push(path.replace(/hidden-\d+/, '<redacted>'))
    }
    await gateway.close()
  }
  const found = readRecords(records)
  expect(found.map(({ target }) => target).toSorted()).toEqual(sent.toSorted())
  expect(found.find(({ target }) => target.startsWith('/none'))).toMatchObject({ status: 404, code: 'route-not-found' })
  expect(readdirSync(records)).toHaveLength(2)
})

test('the numbers of written records are metrics', async () => {
  using time = new PassingTime()
  const { gateway, call, stops } = await startWithRecords('', startGateway, {
    GATEWRIGHT_RECORDS: temporaryFolder(),
    GATEWRIGHT_RECORDS_LIMIT: '1Mi',
  })
  await using _ = stops
  for (let i = 0; i < 3; i++) await call('/shop')
  await time.sooner('the records are written', async () => {
    const text = await (await fetch(`${gateway.url(15_020)}/metrics`)).text()
    return text.includes('gatewright_records_written_total 3\n')
  })
})

const mistakes: readonly (readonly [name: string, words: (objects: string) => readonly string[], message: string])[] = [
  ['in the folder of objects', (objects) => ['--records', join(objects, 'records')], 'would be read as objects'],
  ['that cannot be made', () => ['--records', '/proc/records'], '--records /proc/records cannot be written: '],
  ['with a small limit', () => ['--records', temporaryFolder(), '--records-limit', '10Ki'], 'must be a size from 1Mi'],
  [
    'with a limit that is no size',
    () => ['--records', temporaryFolder(), '--records-limit', 'x'],
    'must be a size from 1Mi',
  ],
]

for (const [name, words, message] of mistakes) {
  test(`a folder ${name} is refused at the start`, async () => {
    const folder = await createObjectsFolder({ 'gateway.yaml': gatewayYaml(await freePort()) })
    const { code, stderr } = await gatewright(['run', '-f', folder.path, ...words(folder.path)])
    await folder.remove()
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
  })
}
