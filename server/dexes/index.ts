import type { DexNetwork } from '../src/swap/domain/dex.ts'
import { arbitrum } from './arbitrum.ts'
import { base } from './base.ts'
import { bsc } from './bsc.ts'
import { cchain } from './cchain.ts'
import { celo } from './celo.ts'
import { eth } from './eth.ts'
import { linea } from './linea.ts'
import { matic } from './matic.ts'
import { op } from './op.ts'
import { sei } from './sei.ts'
import { sol } from './sol.ts'
import { sonic } from './sonic.ts'
import { sui } from './sui.ts'
import { uni } from './uni.ts'

/** DEX definitions by network. To add a network, add a file here and list it below. */
export const dexNetworks: readonly DexNetwork[] = [
  eth,
  sol,
  sui,
  sei,
  arbitrum,
  base,
  bsc,
  cchain,
  celo,
  linea,
  matic,
  op,
  sonic,
  uni,
]
