import { describeDeposits } from './deposit-suite.ts'
import { startEdr } from './edr.ts'

// T13: another client than anvil.
describeDeposits({ name: 'edr', method: 'debug_traceBlockByHash', returnsOrphans: true }, () =>
  startEdr({ tracesBlocks: true }),
)
