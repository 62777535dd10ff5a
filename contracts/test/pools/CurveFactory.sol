// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {CurvePool, IDecimals} from "./CurvePool.sol";

/// @dev Test implementation of the views of Curve's factories and registries. Anyone may mark a pool as a metapool.
abstract contract CurveRegistry {
    address[] public pool_list;
    mapping(address pool => bool) public is_meta;
    mapping(address pool => address[]) internal coinsOf;
    mapping(uint256 pair => address[]) private _markets;

    function pool_count() external view returns (uint256) {
        return pool_list.length;
    }

    function find_pool_for_coins(address from, address to, uint256 i) external view returns (address) {
        address[] storage pools = _markets[uint160(from) ^ uint160(to)];
        return i < pools.length ? pools[i] : address(0);
    }

    function setMeta(address pool, bool meta) external {
        is_meta[pool] = meta;
    }

    function _list(address pool, address[] memory coins) internal {
        pool_list.push(pool);
        coinsOf[pool] = coins;
        for (uint256 i = 0; i < coins.length; i++) {
            for (uint256 j = i + 1; j < coins.length; j++) {
                _markets[uint160(coins[i]) ^ uint160(coins[j])].push(pool);
            }
        }
    }
}

/// @dev Factory of StableSwap-NG pools.
contract CurveFactory is CurveRegistry {
    event PlainPoolDeployed(address[] coins, uint256 A, uint256 fee, address deployer);

    mapping(address pool => uint8[]) private _types;

    function deploy(address[] calldata coins, uint256 amp, uint256 fee, uint256 offPeg, uint8[] calldata types)
        external
        returns (address pool)
    {
        pool = address(new CurvePool(coins, amp, fee, offPeg, 0));
        _list(pool, coins);
        _types[pool] = types;
        emit PlainPoolDeployed(coins, amp, fee, msg.sender);
    }

    function get_coins(address pool) external view returns (address[] memory) {
        return coinsOf[pool];
    }

    function get_pool_asset_types(address pool) external view returns (uint8[] memory) {
        return _types[pool];
    }
}

/// @dev Factory of plain pools before StableSwap-NG: arrays have four entries.
contract CurveOldFactory is CurveRegistry {
    event PlainPoolDeployed(address[4] coins, uint256 A, uint256 fee, address deployer);

    mapping(address pool => address) public get_implementation_address;

    function deploy(address[] calldata coins, uint256 amp, uint256 fee, address implementation)
        external
        returns (address pool)
    {
        pool = address(new CurvePool(coins, amp, fee, 0, 1));
        _list(pool, coins);
        get_implementation_address[pool] = implementation;
        emit PlainPoolDeployed(get_coins(pool), amp, fee, msg.sender);
    }

    function get_coins(address pool) public view returns (address[4] memory list) {
        for (uint256 i = 0; i < coinsOf[pool].length; i++) list[i] = coinsOf[pool][i];
    }

    function get_decimals(address pool) external view returns (uint256[4] memory list) {
        for (uint256 i = 0; i < coinsOf[pool].length; i++) list[i] = IDecimals(coinsOf[pool][i]).decimals();
    }
}

/// @dev Registry of the pools of 2020, which no factory created: arrays have eight entries.
contract CurveListing is CurveRegistry {
    event PoolAdded(address indexed pool, bytes rate_method_id);

    function deploy(address[] calldata coins, uint256 amp, uint256 fee) external returns (address pool) {
        pool = address(new CurvePool(coins, amp, fee, 0, 2));
        _list(pool, coins);
        emit PoolAdded(pool, "");
    }

    function get_coins(address pool) external view returns (address[8] memory list) {
        for (uint256 i = 0; i < coinsOf[pool].length; i++) list[i] = coinsOf[pool][i];
    }

    function get_decimals(address pool) external view returns (uint256[8] memory list) {
        for (uint256 i = 0; i < coinsOf[pool].length; i++) list[i] = IDecimals(coinsOf[pool][i]).decimals();
    }
}
