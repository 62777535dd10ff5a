import type { Command } from 'commander'
import { printRead } from './act.ts'

type ListOptions = Readonly<{ find?: string; limit?: string }>

/** `swapyard pools …`: the pools of swap routes. They are paused by `swapyard pause`. */
export function addPoolCommands(program: Command): void {
  const pools = program.command('pools').description('pools of swap routes')
  pools
    .command('status')
    .description('lists the networks with the block, the depth and the pauses of their pools')
    .action(() => printRead('pools'))
  pools
    .command('list <network>')
    .description('lists the pools of a network, the deepest first, with the scope that pauses each; with --url')
    .option('--find <text>', 'only those with this part of an id, DEX, address or symbol')
    .option('--limit <rows>', 'the deepest pools; all by default')
    .action((network: string, options: ListOptions) => printRead('networkPools', { network, ...options }))
}
