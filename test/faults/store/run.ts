import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { killWriter } from './kill-writer.ts'

/**
 * `npm run faults:store -- [KILLS] [SEED]` kills a writer of objects in the middle of its writes, and checks that no acknowledged change is lost.
 * With `power [LOSSES] [SEED]` it simulates losses of power.
 */

if (process.argv[2] === 'power') {
  process.argv.splice(2, 1)
  await import('./power/run.ts')
} else await kill(Number(process.argv[2] ?? 100), Number(process.argv[3] ?? Date.now() % 100_000))

async function kill(kills: number, seed: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'kill-store-'))
  try {
    console.log(`killing a writer ${kills} times, seed ${seed}`)
    const { acknowledged, storedInFlight, lostInFlight } = await killWriter(join(folder, 'objects.db'), kills, seed)
    console.log(`${acknowledged} acknowledged commits, each found again as a whole`)
    console.log(`commits in flight: ${storedInFlight} stored as a whole, ${lostInFlight} not stored`)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
