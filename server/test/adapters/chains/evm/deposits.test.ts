import { startAnvil } from './anvil.ts'
import { describeDeposits } from './deposit-suite.ts'

// With `trace_block`, and with geth's tracer on a node without `trace_block`.
describeDeposits({ name: 'anvil', method: 'trace_block', returnsOrphans: false }, startAnvil)
describeDeposits({ name: 'anvil', method: 'debug_traceBlockByHash', returnsOrphans: false }, startAnvil)
