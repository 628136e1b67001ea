import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { killWriter } from './kill-writer.ts'

const KILLS = Number(process.argv[2] ?? 100)
const SEED = Number(process.argv[3] ?? Date.now() % 100_000)

const folder = mkdtempSync(join(tmpdir(), 'kill-store-'))
try {
  console.log(`killing a writer ${KILLS} times, seed ${SEED}`)
  const { acknowledged, storedInFlight, lostInFlight } = await killWriter(join(folder, 'objects.db'), KILLS, SEED)
  console.log(`${acknowledged} acknowledged commits, each found again as a whole`)
  console.log(`commits in flight: ${storedInFlight} stored as a whole, ${lostInFlight} not stored`)
} finally {
  rmSync(folder, { recursive: true })
}
