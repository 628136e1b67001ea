/**
 * The arguments of `setpriv` that run a command on one core. The kernel terminates the command when the benchmark ends for any reason.
 * Each program in the chain replaces itself by the next one, so the process id is that of the command.
 */
export function onCore(core: number, command: readonly string[]): string[] {
  return ['--pdeathsig', 'KILL', 'taskset', '-c', String(core), ...command]
}
