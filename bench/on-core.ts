/**
 * The words after `setpriv` that run a command on one core. The kernel ends it when the benchmark ends, in whatever way that
 * happens. Each of these programs becomes the next one, so the process that is started is the command in the end.
 */
export function onCore(core: number, command: readonly string[]): string[] {
  return ['--pdeathsig', 'KILL', 'taskset', '-c', String(core), ...command]
}
