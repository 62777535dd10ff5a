import type { ErrorCode } from '../../core/domain/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { ListedPool, PoolCounts, PoolSnapshot, PoolsDepth } from '../../swap/ports/pools.ts'
import type { PoolState, RoutedSwap, RouteOrder } from '../../swap/ports/router.ts'

/* Messages between the main thread and the router thread. */

export type ToThread =
  | Readonly<{ kind: 'begin'; input: unknown }>
  | Readonly<{ kind: 'route'; id: number; order: RouteOrder; atMs: number }>
  | Readonly<{ kind: 'list-pools'; id: number; network: string }>
  | Readonly<{ kind: 'pauses'; scopes: readonly string[] }>
  | Readonly<{ kind: 'loaded'; id: number; snapshot: PoolSnapshot | null }>
  | Readonly<{ kind: 'saved'; id: number; fault: string | null }>

export type FromThread =
  | Readonly<{ kind: 'routed'; id: number; swap: RoutedSwap; seconds: number }>
  | Readonly<{ kind: 'refused'; id: number; code: ErrorCode; message: string; seconds: number }>
  | Readonly<{ kind: 'state'; network: string; state: PoolState; head: number; counts: PoolCounts }>
  | Readonly<{ kind: 'liquidity'; network: string; liquidity: ReadonlyMap<string, number>; depth: PoolsDepth }>
  /** Null: the pools of this network are not read yet. */
  | Readonly<{ kind: 'pools'; id: number; pools: readonly ListedPool[] | null }>
  | Readonly<{ kind: 'load'; id: number; network: string }>
  | Readonly<{ kind: 'save'; id: number; snapshot: PoolSnapshot }>
  | Readonly<{ kind: 'log'; level: LogLevel; fields: object; message: string }>

export type LogLevel = Exclude<keyof Log, 'child'>
