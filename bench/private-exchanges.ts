import { readFileSync } from 'node:fs'
import type { ChainsFile } from '../server/src/app/sandbox-chains.ts'
import { startChains } from '../test/support/chains.ts'
import type { Result } from './benchmarks.ts'
import type { Ground } from './ground.ts'
import type { PrivateFigures, PrivateHouseSettings } from './private-house.ts'

/*
 * Private exchanges of ether for bitcoin through Monero by one worker, on real nodes. What the house pays between the legs
 * locks its change for ten blocks: the more outputs it keeps, the more of these payments can leave at once.
 */
const COUNT = 40
const NETWORKS = ['btc', 'eth', 'xmr']
/** The setting `monero.outputsReady`; the last is the default. */
const OUTPUTS = [1, 4, 16]

export async function benchPrivate(ground: Ground, say: (line: string) => void): Promise<Result[]> {
  const chains = await startChains(ground.folder, NETWORKS)
  try {
    const { networks } = JSON.parse(readFileSync(chains.file, 'utf8')) as ChainsFile
    if (!networks.some(({ network }) => network === 'xmr')) {
      say('private: monerod and monero-wallet-rpc are not installed, left out')
      return []
    }
    const found: { outputs: number; figures: PrivateFigures }[] = []
    for (const outputs of OUTPUTS) {
      const figures = await measure(ground, chains.file, outputs)
      found.push({ outputs, figures })
      say(
        `private: ${outputs} outputs ready, ${perMinute(figures).toFixed(1)} a minute, ${figures.transactions} transactions`,
      )
    }
    return resultsOf(found)
  } finally {
    await chains.stop()
  }
}

async function measure(ground: Ground, chainsFile: string, outputsReady: number): Promise<PrivateFigures> {
  const databaseUrl = await ground.openDatabase(`private_${outputsReady}`)
  const settings: PrivateHouseSettings = { databaseUrl, chainsFile, count: COUNT, outputsReady }
  const house = await ground.open('private-house.ts', settings)
  const figures = {
    seconds: house.report('seconds'),
    signingSeconds: house.report('signingSeconds'),
    transactions: house.report('transactions'),
    waitingShare: house.report('waitingShare'),
  }
  await house.stop()
  return figures
}

const perMinute = ({ seconds }: PrivateFigures): number => (COUNT * 60) / seconds

function resultsOf(found: readonly { outputs: number; figures: PrivateFigures }[]): Result[] {
  const [one] = found
  if (!one) return []
  return found.flatMap(({ outputs, figures }) => {
    const { transactions, signingSeconds, waitingShare } = figures
    const note = `${(COUNT / transactions).toFixed(1)} payments a transaction between the legs, signed within ${signingSeconds.toFixed(0)} s; no output unlocked ${(waitingShare * 100).toFixed(0)} % of the time`
    const rate: Result = {
      name: `private exchanges, ${outputs} outputs ready`,
      goal: null,
      figure: perMinute(figures),
      unit: '/min',
      note,
    }
    const ratio: Result = {
      name: `private exchanges, ${outputs} outputs ready ÷ one`,
      goal: null,
      figure: perMinute(figures) / perMinute(one.figures),
      unit: '',
      note: `${COUNT} exchanges, one every 0.25 s, from the first create to the last payment`,
    }
    return outputs === one.outputs ? [rate] : [rate, ratio]
  })
}
