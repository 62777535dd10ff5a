import type { AdminReadName } from '@swapyard/schema'
import { exchangeReads } from './exchange-reads.ts'
import { marketReads } from './market-reads.ts'
import { moneyReads } from './money-reads.ts'
import { poolReads } from './pool-reads.ts'
import type { Query, ReadContext, ReadsOf } from './read.ts'
import { serviceReads } from './service-reads.ts'

const reads: ReadsOf<AdminReadName> = { ...exchangeReads, ...marketReads, ...poolReads, ...moneyReads, ...serviceReads }

/** Reads one page or one object, by its name in `adminReads`. */
export const read = (name: AdminReadName, context: ReadContext, query: Query) => reads[name](context, query)
