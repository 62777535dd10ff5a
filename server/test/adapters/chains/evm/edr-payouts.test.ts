import { startEdr } from './edr.ts'
import { describePayouts } from './payout-suite.ts'

// T13: another client than anvil. It estimates 21 001 gas for a plain transfer, so its limit has a margin of 20 %.
describePayouts({ name: 'edr', plainGasLimit: 25_201n, returnsOrphans: true }, startEdr)
