import { eventually } from '../../support/eventually.ts'
import { type Part, runParts } from '../run-parts.ts'
import { startSystemd } from './systemd.ts'

/** `install/systemd/gatewright.service` under a running systemd, as `docs/guides/service.md` uses it. */
const checkService: Part = async (transcript, stops) => {
  const shell = await startSystemd(stops)
  const run = async (command: string) => (await shell(command)).output.trim()
  const codeOf = async (command: string) => (await shell(command)).code
  const property = (name: string) => run(`systemctl show --value -p ${name} gatewright`)
  const hello = () => run('curl -s --max-time 5 http://127.0.0.1/hello')

  await run('gatewright init http /etc/gatewright && sed -i "s/port: 8080/port: 80/" /etc/gatewright/gateway.yaml')
  transcript.check('it starts', await codeOf('systemctl start gatewright'), 0)
  transcript.check('an answer at a port below 1024, at once', await hello(), 'hello from gatewright')
  const user = await run('ps -o user= -p $(systemctl show --value -p MainPID gatewright)')
  transcript.check('a user of its own', user, 'gatewright')
  transcript.check('the log is in the journal', /ready admin=/.test(await run('journalctl -t gatewright -o cat')), true)

  await run('sed -i "s/hello from gatewright/edited/" /etc/gatewright/gateway.yaml')
  await eventually('the edit is in force', async () => (await hello()) === 'edited')
  const before = await property('MainPID')
  transcript.check('reload', await codeOf('systemctl reload gatewright'), 0)
  const ended = async () => (await codeOf(`kill -0 ${before}`)) !== 0
  transcript.check('the process before ends', await eventually('its end', ended), true)
  transcript.check('systemd knows the process that took its place', (await property('MainPID')) !== before, true)
  transcript.check('the service goes on', [await property('ActiveState'), await hello()].join(), 'active,edited')
  await run('systemctl kill --kill-whom=main --signal=HUP gatewright')
  const reopened = async () => (await run('journalctl -t gatewright -o cat')).includes('reloading the files')
  transcript.check('a signal reaches the new process', await eventually('HUP', reopened), true)

  await run('echo GATEWRIGHT_ACCESS_LOG=/var/log/gatewright/access.log > /etc/default/gatewright')
  transcript.check('restart', await codeOf('systemctl restart gatewright'), 0)
  await hello()
  const inFile = async () => (await run('cat /var/log/gatewright/access.log')).includes('http.path=/hello')
  transcript.check('the access log is in its file', await eventually('a line', inFile), true)

  await run('kill -9 $(systemctl show --value -p MainPID gatewright)')
  transcript.check(
    'it starts again when it dies',
    await eventually('edited', async () => (await hello()) === 'edited'),
    true,
  )

  const state = '--state /var/lib/gatewright'
  transcript.check('backup', await codeOf(`gatewright backup /var/tmp/copy.db ${state}`), 0)
  await run('systemctl stop gatewright')
  transcript.check('result of the stop', await property('Result'), 'success')
  transcript.check('restore', await codeOf(`gatewright restore /var/tmp/copy.db ${state}`), 0)
  transcript.check('it starts with what root has restored', await codeOf('systemctl start gatewright'), 0)
}

await runParts('interop:service', { service: checkService })
