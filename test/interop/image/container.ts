import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '../../support/eventually.ts'
import type { Part } from '../run-parts.ts'
import { startDocker } from './docker.ts'
import { imageFolder } from './image-folder.ts'

const PATIENCE_MS = 60_000
const RESTRICTED = ['--read-only', '--tmpfs', '/tmp', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges']

/** The image as `docs/guides/container.md` builds and runs it: restricted, healthy, with objects that change, and state that stays. */
export const checkContainer: Part = async (transcript, stops) => {
  const folder = imageFolder(stops)
  const { docker, expectDocker, ask } = await startDocker(stops)
  await expectDocker('build', '--tag', 'gatewright:local', join(folder, 'image'))
  transcript.check('version', await expectDocker('run', '--rm', 'gatewright:local', 'version'), versionLine())

  const objects = join(folder, 'compose', 'objects')
  const volumes = ['-v', `${objects}:/etc/gatewright:ro`, '-v', 'state:/var/lib/gatewright']
  const start = () =>
    expectDocker('run', '-d', '--name', 'gateway', ...RESTRICTED, '-p', '8080:8080', ...volumes, 'gatewright:local')
  const inside = (...words: readonly string[]) => docker('exec', 'gateway', ...words)
  const health = () => expectDocker('inspect', '-f', '{{.State.Health.Status}}', 'gateway')
  const isHealthy = async () => ((await health()) === 'starting' ? undefined : health())
  const adminToken = async () =>
    (await inside('node', '-p', 'fs.readFileSync("/var/lib/gatewright/admin-token", "utf8")')).output

  await start()
  transcript.check('health', await eventually('a health', isHealthy, PATIENCE_MS), 'healthy')
  transcript.check('an answer', await ask('http://127.0.0.1:8080/'), 'hello from a container\n')
  transcript.check('user', (await inside('node', '-p', 'process.getuid()')).output, '10101\n')
  const write = await inside('node', '-e', 'fs.writeFileSync("/app/x", "")')
  transcript.check('the root is read-only', /EROFS/.exec(write.output)?.[0], 'EROFS')
  const elsewhere = await docker('exec', '-e', 'GATEWRIGHT_ADMIN_ADDR=127.0.0.1:1', 'gateway', 'gatewright', 'status')
  transcript.check('the health check fails without a gateway', elsewhere.code, 1)

  const file = join(objects, 'gateway.yaml')
  writeFileSync(file, readFileSync(file, 'utf8').replace('hello from a container', 'edited'))
  const edited = async () => ((await ask('http://127.0.0.1:8080/')) === 'edited\n' ? true : undefined)
  transcript.check('an edit is in force', await eventually('the edit', edited), true)

  const before = await adminToken()
  await expectDocker('stop', 'gateway')
  transcript.check('exit code', await expectDocker('inspect', '-f', '{{.State.ExitCode}}', 'gateway'), '0')
  await expectDocker('rm', 'gateway')
  await start()
  await eventually('the gateway again', edited)
  transcript.check('the volume keeps the state', [before.trim() === '', await adminToken()], [false, before])
}

function versionLine(): string {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
  return `gatewright ${version}`
}
