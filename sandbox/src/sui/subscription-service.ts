import { GrpcTypes } from '@mysten/sui/grpc'
import { maskOfCheckpoint } from './field-mask.ts'
import { invalidArgument } from './grpc-error.ts'
import { type Method, streaming } from './grpc-web.ts'
import { renderCheckpoint } from './render-messages.ts'
import type { Chain } from './simulated-chain.ts'

/** Checkpoints from the moment of the subscription on, without a gap. */
export const subscriptionMethods = (chain: Chain): Method[] => [
  streaming(
    '/sui.rpc.v2.SubscriptionService/SubscribeCheckpoints',
    GrpcTypes.SubscribeCheckpointsRequest,
    GrpcTypes.SubscribeCheckpointsResponse,
    (request, send) => {
      if (request.filter !== undefined) throw invalidArgument('this simulator does not filter checkpoints')
      const mask = maskOfCheckpoint(request.readMask)
      return chain.log.onCheckpoint((checkpoint) =>
        send({ cursor: checkpoint.sequence, checkpoint: mask.apply(renderCheckpoint(checkpoint)) }),
      )
    },
  ),
]
