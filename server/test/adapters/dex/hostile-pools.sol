// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

struct Key {
    address currency0;
    address currency1;
    uint24 fee;
    int24 tickSpacing;
    address hooks;
}

struct Position {
    int24 tickLower;
    int24 tickUpper;
    int256 liquidityDelta;
    bytes32 salt;
}

interface IManager {
    function unlock(bytes calldata data) external returns (bytes memory);
    function initialize(Key calldata key, uint160 sqrtPrice) external returns (int24);
    function modifyLiquidity(Key calldata key, Position calldata position, bytes calldata data)
        external
        returns (int256 delta, int256 fees);
    function sync(address currency) external;
    function settle() external payable returns (uint256);
}

interface IToken {
    function transfer(address to, uint256 amount) external returns (bool);
}

/// A token without a limit of its supply.
contract InventedToken {
    mapping(address => uint256) public balanceOf;

    function transfer(address to, uint256 amount) external returns (bool) {
        unchecked {
            balanceOf[to] += amount;
        }
        return true;
    }
}

/// Creates many Uniswap V4 pools of a pair in one transaction; without liquidity, or with the same in each.
contract HostilePools {
    IManager private immutable manager;

    constructor(IManager _manager) {
        manager = _manager;
    }

    function create(
        address token0,
        address token1,
        uint24 firstFee,
        uint24 count,
        int24 spacing,
        uint160 sqrtPrice,
        Position calldata position
    ) external {
        for (uint24 n = 0; n < count; n++) manager.initialize(_key(token0, token1, firstFee + n, spacing), sqrtPrice);
        if (position.liquidityDelta == 0) return;
        manager.unlock(abi.encode(token0, token1, firstFee, count, spacing, position));
    }

    function unlockCallback(bytes calldata data) external returns (bytes memory) {
        (address token0, address token1, uint24 firstFee, uint24 count, int24 spacing, Position memory position) =
            abi.decode(data, (address, address, uint24, uint24, int24, Position));
        uint256 owed0;
        uint256 owed1;
        for (uint24 n = 0; n < count; n++) {
            (int256 delta,) = manager.modifyLiquidity(_key(token0, token1, firstFee + n, spacing), position, "");
            owed0 += uint256(-int256(int128(delta >> 128)));
            owed1 += uint256(-int256(int128(delta)));
        }
        _pay(token0, owed0);
        _pay(token1, owed1);
        return "";
    }

    function _pay(address token, uint256 amount) private {
        if (amount == 0) return;
        manager.sync(token);
        IToken(token).transfer(address(manager), amount);
        manager.settle();
    }

    function _key(address token0, address token1, uint24 fee, int24 spacing) private pure returns (Key memory) {
        return Key(token0, token1, fee, spacing, address(0));
    }
}
