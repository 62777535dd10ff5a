// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {SwapRouter} from "../src/SwapRouter.sol";
import {NATIVE} from "../src/Transfers.sol";
import {Market} from "./Market.sol";
import {Route} from "./Route.sol";

/// @dev Pseudo-random routes from a seed.
abstract contract RandomRoutes is Market {
    using Route for uint256[];

    uint256 private state;

    function setSeed(uint256 seed) internal {
        state = seed;
    }

    function random(uint256 limit) internal returns (uint256) {
        state = uint256(keccak256(abi.encode(state)));
        return state % limit;
    }

    /// @dev A valid swap [native →] a → b [→ c], each hop split at random. The executor, the recipient or the next pool receives an
    ///   output.
    function randomSwap() internal returns (SwapRouter.Swap memory s, uint256[] memory route) {
        bool isNative = random(3) == 0;
        bool isTwoHops = random(2) == 0;
        address source = isNative ? NATIVE : a;
        address target = isTwoHops ? c : b;
        s = swapOrder(source, 1 + random(10) + 10 ** (17 + random(5)), target);
        if (random(2) == 0) s = withFee(s, random(50_001));
        uint256 indexA = isNative ? 2 : 0;
        uint256 indexB = isTwoHops ? (isNative ? 3 : 2) : 1;
        route = Route.start(source, target);
        if (isNative) route = route.token(a);
        if (isTwoHops) route = route.token(b);
        if (isNative) {
            route = route.token(w);
            uint256 indexW = isTwoHops ? 4 : 3;
            // A part of the native coin through its Uniswap V4 pool, the rest wrapped.
            route = route.step(step(Route.UNISWAP_V4, 0, indexA, Route.TO_EXECUTOR, 1 << 16 | random(1 << 23), 3000 << 16 | 60, manager));
            route = route.step(step(Route.WRAP, 0, indexW, Route.TO_EXECUTOR, Route.ALL, 0, address(0)));
            bool v2 = random(2) == 0;
            route = route.step(
                step(v2 ? Route.UNISWAP_V2 : Route.UNISWAP_V3, indexW, indexA, 0, Route.ALL, v2 ? 3000 : 0, v2 ? v2aw : v3aw)
            );
        }
        uint256 steps = 1 + random(3);
        for (uint256 i = 1; i <= steps; i++) {
            Route.Step memory nextStep = poolKinds[random(poolKinds.length)];
            (nextStep.tokenIn, nextStep.tokenOut) = (indexA, indexB);
            nextStep.share = i == steps ? Route.ALL : 1 << 16 | random(1 << 23);
            bool paysNextPool = isTwoHops && steps == 1 && nextStep.kind != Route.CURVE && nextStep.kind != Route.BALANCER_V2;
            if (isTwoHops) nextStep.flags = paysNextPool ? Route.TO_NEXT_POOL : Route.TO_EXECUTOR;
            else if (random(4) == 0) nextStep.flags = Route.TO_EXECUTOR;
            route = withStep(route, nextStep);
            if (paysNextPool) {
                uint256 flags = Route.PREPAID | Route.TO_TARGET;
                return (s, route.step(step(Route.UNISWAP_V2, indexB, 1, flags, Route.ALL, 3000, v2bc)));
            }
        }
        if (!isTwoHops) return (s, route);
        route = route.step(step(Route.UNISWAP_V2, indexB, 1, Route.TO_TARGET, 1 + random(1 << 23), 3000, v2bc));
        route = route.step(step(Route.UNISWAP_V3, indexB, 1, Route.TO_EXECUTOR, Route.ALL, 0, v3bc));
    }

    /// @dev Elements with the structure of a route and arbitrary contents.
    function arbitraryRoute(uint256[] memory elements) internal returns (uint256[] memory route) {
        address[10] memory addresses = [a, b, w, NATIVE, v2ab, v3ab, manager, vault, address(router), address(executor)];
        if (random(8) == 0) return elements;
        route = Route.start(a, b).token(addresses[random(10)]);
        for (uint256 i = 0; i < elements.length && i < 6; i++) {
            uint256 element = elements[i];
            Route.Step memory nextStep = step(1 + element % 9, random(4), random(3), random(8), 0, 0, address(0));
            nextStep.share = random(3) == 0 ? Route.ALL : random(1 << 24);
            nextStep.extra = random(3) == 0 ? uint40(element) : poolKinds[random(poolKinds.length)].extra;
            nextStep.pool = random(2) == 0 ? addresses[random(10)] : poolKinds[random(poolKinds.length)].pool;
            route = withStep(route, nextStep);
        }
    }
}
