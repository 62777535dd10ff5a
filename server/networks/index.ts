import type { NetworkDefinition } from '../src/core/domain/network.ts'
import { arbitrum } from './arbitrum.ts'
import { base } from './base.ts'
import { bch } from './bch.ts'
import { bsc } from './bsc.ts'
import { btc } from './btc.ts'
import { cchain } from './cchain.ts'
import { celo } from './celo.ts'
import { doge } from './doge.ts'
import { eth } from './eth.ts'
import { linea } from './linea.ts'
import { ltc } from './ltc.ts'
import { matic } from './matic.ts'
import { op } from './op.ts'
import { sei } from './sei.ts'
import { sol } from './sol.ts'
import { sonic } from './sonic.ts'
import { sui } from './sui.ts'
import { ton } from './ton.ts'
import { trx } from './trx.ts'
import { uni } from './uni.ts'
import { xlm } from './xlm.ts'
import { xmr } from './xmr.ts'
import { xrp } from './xrp.ts'

/** Every network that the program knows. A new one is a file beside this and a word here. */
export const networks: readonly NetworkDefinition[] = [
  btc,
  ltc,
  doge,
  bch,
  eth,
  arbitrum,
  base,
  bsc,
  cchain,
  celo,
  linea,
  matic,
  op,
  sei,
  sonic,
  uni,
  xmr,
  sol,
  sui,
  xrp,
  xlm,
  ton,
  trx,
]
