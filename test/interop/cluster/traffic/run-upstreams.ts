import { startUpstreams } from '#examples/upstreams/run.ts'

const { close } = await startUpstreams()
process.once('SIGTERM', close)
