import { startAnvil } from './anvil.ts'
import { describePayouts } from './payout-suite.ts'

describePayouts({ name: 'anvil', plainGasLimit: 21_000n, returnsOrphans: false }, startAnvil)
