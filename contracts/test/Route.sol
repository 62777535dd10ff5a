// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @dev Encodes routes for SwapExecutor.
library Route {
    uint256 internal constant UNISWAP_V2 = 1;
    uint256 internal constant UNISWAP_V3 = 2;
    uint256 internal constant UNISWAP_V4 = 3;
    uint256 internal constant SOLIDLY = 4;
    uint256 internal constant CURVE = 5;
    uint256 internal constant BALANCER_V2 = 6;
    uint256 internal constant LIQUIDITY_BOOK = 7;
    uint256 internal constant WRAP = 8;
    uint256 internal constant UNWRAP = 9;

    uint256 internal constant TO_EXECUTOR = 0;
    uint256 internal constant TO_TARGET = 1;
    uint256 internal constant TO_NEXT_POOL = 2;
    uint256 internal constant PREPAID = 4;

    uint256 internal constant ALL = type(uint24).max;

    struct Step {
        uint256 kind;
        uint256 tokenIn;
        uint256 tokenOut;
        uint256 flags;
        uint256 share;
        uint256 extra;
        address pool;
    }

    function encode(Step memory s) internal pure returns (uint256) {
        return s.kind << 248 | s.tokenIn << 240 | s.tokenOut << 232 | s.flags << 224 | s.share << 200 | s.extra << 160
            | uint256(uint160(s.pool));
    }

    /// @dev A route of one step.
    function one(address tokenIn, address tokenOut, Step memory s) internal pure returns (uint256[] memory route) {
        route = new uint256[](4);
        route[0] = 2;
        route[1] = uint256(uint160(tokenIn));
        route[2] = uint256(uint160(tokenOut));
        route[3] = encode(s);
    }

    function start(address tokenIn, address tokenOut) internal pure returns (uint256[] memory route) {
        route = new uint256[](3);
        (route[0], route[1], route[2]) = (2, uint256(uint160(tokenIn)), uint256(uint160(tokenOut)));
    }

    /// @dev Appends a token. Call it before the first step.
    function token(uint256[] memory route, address element) internal pure returns (uint256[] memory longer) {
        longer = append(route, uint256(uint160(element)));
        longer[0]++;
    }

    function step(uint256[] memory route, Step memory s) internal pure returns (uint256[] memory) {
        return append(route, encode(s));
    }

    function append(uint256[] memory route, uint256 element) internal pure returns (uint256[] memory longer) {
        longer = new uint256[](route.length + 1);
        for (uint256 i = 0; i < route.length; i++) longer[i] = route[i];
        longer[route.length] = element;
    }
}
