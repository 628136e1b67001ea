import { execFile } from 'node:child_process'
import type { LogMessage } from '#observe/log/application-log.ts'

/**
 * Tells systemd how far a service is, or which process it is now (sd_notify(3)), if it waits for that. Resolves when it has been told. The runtime has no datagram sockets of Unix, so a program of systemd sends the state;
 * the unit needs `NotifyAccess=all`.
 */
export function notifyService(
  state: 'READY=1' | 'STOPPING=1' | `MAINPID=${number}`,
  environment: NodeJS.ProcessEnv,
  message: LogMessage,
): Promise<void> {
  if (!environment.NOTIFY_SOCKET) return Promise.resolve()
  return new Promise((resolve) => {
    execFile('systemd-notify', [state], { env: environment }, (error) => {
      if (error !== null) message('workers', 'warn', 'systemd cannot be notified', { state, cause: error.message })
      resolve()
    })
  })
}
