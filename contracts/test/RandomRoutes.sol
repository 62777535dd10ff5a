// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {SwapRouter} from "../src/SwapRouter.sol";
import {NATIVE} from "../src/Transfers.sol";
import {Market} from "./Market.sol";
import {Route} from "./Route.sol";

/// @dev Routes drawn from a seed.
abstract contract RandomRoutes is Market {
    using Route for uint256[];

    uint256 private state;

    function start(uint256 seed) internal {
        state = seed;
    }

    function draw(uint256 below) internal returns (uint256) {
        state = uint256(keccak256(abi.encode(state)));
        return state % below;
    }

    /// @dev [coin →] a → b → c, each hop split at random; outputs go here, to the target or to the next pool.
    function randomSwap() internal returns (SwapRouter.Swap memory s, uint256[] memory route) {
        bool coins = draw(3) == 0;
        bool two = draw(2) == 0;
        address source = coins ? NATIVE : a;
        address target = two ? c : b;
        s = order(source, 1 + draw(10) + 10 ** (17 + draw(5)), target);
        if (draw(2) == 0) s = withFee(s, draw(50_001));
        uint256 placeA = coins ? 2 : 0;
        uint256 placeB = two ? (coins ? 3 : 2) : 1;
        route = Route.start(source, target);
        if (coins) route = route.token(a);
        if (two) route = route.token(b);
        if (coins) {
            route = route.token(w);
            uint256 placeW = two ? 4 : 3;
            // The coin by its own pool first, then the wrapped one's.
            route = route.leg(leg(Route.UNISWAP_V4, 0, placeA, Route.HERE, draw(1 << 24), 3000 << 16 | 60, manager));
            route = route.leg(leg(Route.WRAP, 0, placeW, Route.HERE, Route.ALL, 0, address(0)));
            bool v2 = draw(2) == 0;
            route = route.leg(
                leg(v2 ? Route.UNISWAP_V2 : Route.UNISWAP_V3, placeW, placeA, 0, Route.ALL, v2 ? 3000 : 0, v2 ? v2aw : v3aw)
            );
        }
        uint256 legs = 1 + draw(3);
        for (uint256 i = 1; i <= legs; i++) {
            Route.Leg memory l = kinds[draw(kinds.length)];
            (l.tokenIn, l.tokenOut) = (placeA, placeB);
            l.share = i == legs ? Route.ALL : 1 << 16 | draw(1 << 23);
            bool passesOn = two && legs == 1 && l.kind != Route.CURVE && l.kind != Route.BALANCER_V2;
            if (two) l.flags = passesOn ? Route.TO_NEXT_POOL : Route.HERE;
            else if (draw(4) == 0) l.flags = Route.HERE;
            route = withLeg(route, l);
            if (passesOn) {
                uint256 flags = Route.PREPAID | Route.TO_TARGET;
                return (s, route.leg(leg(Route.UNISWAP_V2, placeB, 1, flags, Route.ALL, 3000, v2bc)));
            }
        }
        if (!two) return (s, route);
        route = route.leg(leg(Route.UNISWAP_V2, placeB, 1, Route.TO_TARGET, 1 + draw(1 << 23), 3000, v2bc));
        route = route.leg(leg(Route.UNISWAP_V3, placeB, 1, Route.HERE, Route.ALL, 0, v3bc));
    }

    /// @dev Words that look like a route, with anything in them.
    function randomWords(uint256[] memory words) internal returns (uint256[] memory route) {
        address[10] memory places = [a, b, w, NATIVE, v2ab, v3ab, manager, vault, address(router), address(executor)];
        if (draw(8) == 0) return words;
        route = Route.start(a, b).token(places[draw(10)]);
        for (uint256 i = 0; i < words.length && i < 6; i++) {
            uint256 word = words[i];
            Route.Leg memory l = leg(1 + word % 9, draw(4), draw(3), draw(8), draw(3) == 0 ? Route.ALL : draw(1 << 24), 0, address(0));
            l.extra = draw(3) == 0 ? uint40(word) : kinds[draw(kinds.length)].extra;
            l.pool = draw(2) == 0 ? places[draw(10)] : kinds[draw(kinds.length)].pool;
            route = withLeg(route, l);
        }
    }
}
